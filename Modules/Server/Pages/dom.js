// Making and patching elements. Text goes in as text alone; nothing here reads markup.

/** An element; `on…` are listeners, `text` its text, `false` and `undefined` leave an attribute out. */
export function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
        else if (name === "text") node.textContent = value;
        else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
    return node;
}

const svgSpace = "http://www.w3.org/2000/svg";

/** One of the pictures of index.html, for the eye alone. */
export function icon(name) {
    const svg = document.createElementNS(svgSpace, "svg");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    const use = document.createElementNS(svgSpace, "use");
    use.setAttribute("href", "#i-" + name);
    svg.append(use);
    return svg;
}

/** Puts another picture into a button. */
export function setIcon(button, name) {
    setAttribute(button.querySelector("use"), "href", "#i-" + name);
}

/** Writes only what is other than before: an equal text would throw away a selection and be laid out again. */
export function setText(node, text) {
    if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node, name, value) {
    if (value === null || value === undefined || value === false) {
        if (node.hasAttribute(name)) node.removeAttribute(name);
    } else if (node.getAttribute(name) !== String(value)) {
        node.setAttribute(name, value);
    }
}

export function setHidden(node, isHidden) {
    if (node.hidden !== isHidden) node.hidden = isHidden;
}

export const byID = (id) => document.getElementById(id);

/** A button that is a picture, with its name for those who do not see it. */
export function iconButton(name, label, onclick) {
    return el("button", { type: "button", class: "bare", "aria-label": label, title: label, onclick }, icon(name));
}

/** A button with a picture and a word. */
export function button(name, label, onclick, kind = "quiet") {
    return el("button", { type: "button", class: kind, onclick }, name && icon(name), el("span", { text: label }));
}
