"""What can be said of a page by looking at it: names for those who hear it, contrast, and what sticks out."""

#: The roles whose elements are nothing to somebody who does not hear a name.
NAMED = {"button", "link", "textbox", "searchbox", "tab", "checkbox", "combobox", "progressbar", "image", "dialog",
         "tabpanel", "region", "DisclosureTriangle", "option", "heading"}
#: WCAG 2.2, 1.4.3, for text of any size.
LEAST_CONTRAST = 4.5

CONTRAST = """(() => {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 1;
    const context = canvas.getContext('2d', { willReadFrequently: true });
    const rgba = (colour) => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
    const luminance = (colour) => {
        const [r, g, b] = colour.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (node) => {
        const layers = [];
        for (let at = node; at; at = at.parentElement) {
            const colour = rgba(getComputedStyle(at).backgroundColor);
            layers.push(colour);
            if (colour[3] === 1) break;
        }
        return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
    };
    const found = [];
    let count = 0;
    const judge = (node, colour, text) => {
        const under = ground(node);
        let opacity = 1;
        for (let at = node; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
        if (opacity === 0) return;
        const front = rgba(colour);
        front[3] *= opacity;
        const [a, b] = [luminance(over(front, under)), luminance(under)].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        count += 1;
        if (ratio < LEAST) found.push(`${ratio.toFixed(2)}: ${text.trim().slice(0, 40)} (${node.className || node.tagName})`);
    };
    const modal = document.querySelector('dialog[open]');
    const walker = document.createTreeWalker(modal ?? document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        const node = text.parentElement;
        if (!text.data.trim() || node.closest('.unseen, .skip, :disabled, noscript, .lock-face, .status-bar, .letter[hidden]')) continue;
        if (!node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
        judge(node, getComputedStyle(node).color, text.data);
    }
    for (const input of (modal ?? document).querySelectorAll('input[placeholder]')) {
        if (input.checkVisibility() && !input.disabled) judge(input, getComputedStyle(input, '::placeholder').color, input.placeholder);
    }
    return { count, found };
})()""".replace("LEAST", str(LEAST_CONTRAST))

STICKS_OUT = """[...document.querySelectorAll('body *')].filter((node) => {
    if (!node.checkVisibility() || node.closest('.phone, .unseen, .skip, .sprite')) return false;
    const box = node.getBoundingClientRect();
    if (box.width === 0 || (box.right <= innerWidth + 0.5 && box.left >= -0.5)) return false;
    for (let at = node.parentElement; at; at = at.parentElement) {
        if (getComputedStyle(at).overflowX !== 'visible') return false;
    }
    return true;
}).map((node) => `${node.tagName} ${node.className?.baseVal ?? node.className}: ${node.textContent.slice(0, 30)}`).slice(0, 5)"""


def nameless(page):
    """Elements that are there for everybody and have no name."""
    found = []
    for node in page.call("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        if not node.get("ignored") and role in NAMED and not node.get("name", {}).get("value", "").strip():
            found.append(f"{role} {node.get('backendDOMNodeId')}")
    return found


def faint(page):
    """Texts of too little contrast; at least one text must have been looked at."""
    result = page.eval(CONTRAST)
    return result["found"] if result["count"] else ["There is no text to look at."]


def sticking_out(page):
    """What is wider than the page."""
    if page.eval("document.documentElement.scrollWidth > innerWidth"):
        return page.eval(STICKS_OUT) or ["The page can be scrolled sideways."]
    return page.eval(STICKS_OUT)


def judge(page, where):
    """All of it; an error says where."""
    for what, found in (("no name", nameless(page)), ("too little contrast", faint(page)), ("sticks out", sticking_out(page))):
        if found:
            raise AssertionError(f"{where}, {what}: {'; '.join(found)}")
