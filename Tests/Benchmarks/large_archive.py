#!/usr/bin/env python3
"""Makes an archive past the limits of 32 and 16 bits out of a small one: more entries, and more bytes.

usage: large_archive.py IN OUT [--bytes N] [--entries N]

What is added lies in the app's folder Large: files of 64 MiB that do not pack, stored and deflated in turn, and files of a
few bytes. The result asks for zip64 from 4 GiB or 65,535 entries on.
"""
import argparse
import random
import zipfile
import zlib

parser = argparse.ArgumentParser()
parser.add_argument("input")
parser.add_argument("output")
parser.add_argument("--bytes", type=int, default=5 << 30)
parser.add_argument("--entries", type=int, default=70_000)
wanted = parser.parse_args()

random.seed(1)
block = random.randbytes(64 << 20)
with zipfile.ZipFile(wanted.input) as source, zipfile.ZipFile(wanted.output, "w", allowZip64=True) as target:
    for info in source.infolist():
        target.writestr(info, source.read(info), compress_type=info.compress_type, compresslevel=1)
    app = next(n for n in source.namelist() if n.endswith(".app/Info.plist") and n.count("/") == 2).rsplit("/", 1)[0]
    for index in range(wanted.entries):
        info = zipfile.ZipInfo(f"{app}/Large/small/{index % 256}/{index}.txt", (2026, 1, 1, 0, 0, 0))
        info.external_attr, info.create_system = 0o100644 << 16, 3
        target.writestr(info, f"number {index}\n" * (index % 7), zipfile.ZIP_DEFLATED)
    index = 0
    while target.fp.tell() < wanted.bytes:
        name = f"{app}/Large/{index}.bin"
        info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
        info.external_attr, info.create_system = 0o100644 << 16, 3
        # Other bytes each time, without the time that making them would take.
        data = index.to_bytes(8, "little") + block[8:]
        target.writestr(info, data, zipfile.ZIP_DEFLATED if index % 8 == 0 else zipfile.ZIP_STORED, compresslevel=1)
        index += 1
