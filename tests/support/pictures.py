"""usage: pictures.py DIRECTORY - small pictures of every kind, good and bad, made from nothing but zlib.

The corpus of fuzz_image (tests/fuzz/corpus/image) is what this writes; tests from outside import it.
"""

import os
import struct
import sys
import zlib

GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
SAMPLES = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def rows(width, height, bits, color, salt=0):
    """Rows of a pattern, each behind its filter byte."""
    out = bytearray()
    for y in range(height):
        out.append(y % 5 if bits == 8 else 0)
        out += bytes((x * 7 + y * 13 + salt) & 255 for x in range((width * bits * SAMPLES[color] + 7) // 8))
    return bytes(out)


def png(width=8, height=8, color=RGB, bits=8, interlaced=False, extra=b"", data=None, salt=0):
    if data is None:
        if interlaced:
            passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
            sizes = [(-(-(width - x) // dx), -(-(height - y) // dy)) for x, y, dx, dy in passes]
            data = b"".join(rows(w, h, bits, color, salt) for w, h in sizes if w > 0 and h > 0)
        else:
            data = rows(width, height, bits, color, salt)
        data = zlib.compress(data, 9)
    head = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, interlaced)
    palette = chunk(b"PLTE", bytes(range(3 * min(256, 1 << bits)))) if color == PALETTE else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + palette + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def png_bomb(width, height):
    """All zero, and so a thousandth of its size."""
    packer, out = zlib.compressobj(9), bytearray()
    row = bytes(1 + width * 3)
    for _ in range(height):
        out += packer.compress(row)
    return png(width, height, data=bytes(out) + packer.flush())


class Bits:
    """Bits put together, the first one the highest."""

    def __init__(self):
        self.text = ""

    def put(self, value, count):
        self.text += format(value, f"0{count}b") if count else ""

    def jpeg(self):
        text = self.text + "1" * (-len(self.text) % 8)
        return bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8)).replace(b"\xff", b"\xff\x00")


def jpeg(width=16, height=16, components=3, progressive=False, adobe=None, exif=False, turn=0):
    """Every block has one brightness: a DC coefficient and the end of the block."""
    def segment(mark, data):
        return bytes([0xff, mark]) + struct.pack(">H", len(data) + 2) + data

    # DC categories 0 to 11 have four bits each; the only AC symbol is the end of a block.
    dc_table = bytes([0, 0, 0, 12] + [0] * 12) + bytes(range(12))
    ac_table = bytes([1] + [0] * 15) + b"\0"
    out = b"\xff\xd8"
    if exif:
        out += segment(0xe1, b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0 secret place")
    if turn:
        out += segment(0xe1, b"Exif\0\0II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, turn, 0, 0))
    if adobe is not None:
        out += segment(0xee, b"Adobe\0d\0\0\0\0" + bytes([adobe]))
    out += segment(0xdb, b"\0" + bytes([1] * 64))
    frame = b"".join(bytes([i + 1, 0x11, 0]) for i in range(components))
    out += segment(0xc2 if progressive else 0xc0, struct.pack(">BHHB", 8, height, width, components) + frame)
    out += segment(0xc4, b"\x00" + dc_table) + segment(0xc4, b"\x10" + ac_table)
    scan = b"".join(bytes([i + 1, 0]) for i in range(components))
    out += segment(0xda, bytes([components]) + scan + (b"\0\0\0" if progressive else b"\0\x3f\0"))
    bits, last = Bits(), [0] * components
    for block in range(-(-width // 8) * -(-height // 8)):
        for c in range(components):
            value = (block * 97 + c * 211) % 800 - 400
            step = value - last[c]
            last[c] = value
            size = abs(step).bit_length()
            bits.put(size, 4)
            bits.put(step if step > 0 else step + (1 << size) - 1, size)
            if not progressive:
                bits.put(0, 1)
    return out + bits.jpeg() + b"\xff\xd9"


def riff(chunks):
    body = b"".join(kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) for kind, data in chunks)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def webp(width=8, height=8, argb=(255, 200, 100, 50), alpha=False, chunks_before=()):
    """Lossless, of one colour: each code has one symbol, so pixels cost no bits, however many."""
    value = count = 0

    def put(number, bits):
        nonlocal value, count
        value |= number << count
        count += bits

    put(0x2f, 8)
    put(width - 1, 14)
    put(height - 1, 14)
    put(int(alpha), 1)
    put(0, 3 + 1 + 1 + 1)  # version; no transform, no colour cache, no meta codes
    a, r, g, b = argb
    for symbol in (g, r, b, a, 0):
        put(1 | 0 << 1 | 1 << 2, 3)  # a simple code of one symbol of eight bits
        put(symbol, 8)
    return riff(list(chunks_before) + [(b"VP8L", value.to_bytes(-(-count // 8), "little"))])


def animated_webp():
    still = webp()[12:]
    canvas = struct.pack("<I", 7)[:3] * 2
    frame = b"\0" * 6 + canvas + struct.pack("<I", 100)[:3] + b"\0" + still
    return riff([(b"VP8X", b"\x02\0\0\0" + canvas), (b"ANIM", b"\0" * 6), (b"ANMF", frame), (b"ANMF", frame)])


def gif(width=1, height=1):
    return (b"GIF89a" + struct.pack("<HH", width, height) + b"\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0"
            + struct.pack("<HH", width, height) + b"\0\x02\x02D\x01\0;")


def bmp(width=2, height=2):
    pixels = b"".join((bytes([10, 20, 30]) * width).ljust(-(-width * 3 // 4) * 4, b"\0") for _ in range(abs(height)))
    return (b"BM" + struct.pack("<IHHI", 54 + len(pixels), 0, 0, 54)
            + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(pixels), 2835, 2835, 0, 0) + pixels)


def corpus():
    text = chunk(b"tEXt", b"Author\0somebody") + chunk(b"zTXt", b"Note\0\0" + zlib.compress(bytes(100000), 9))
    good = png()
    return {
        "png_rgb": good,
        "png_rgba": png(color=RGBA),
        "png_grey": png(color=GREY),
        "png_grey_alpha": png(color=GREY_ALPHA),
        "png_palette": png(color=PALETTE, bits=4),
        "png_palette_clear": png(color=PALETTE, bits=2, extra=chunk(b"tRNS", b"\0\x80\xff")),
        "png_one_bit": png(9, 3, color=GREY, bits=1),
        "png_16_bit": png(color=RGBA, bits=16),
        "png_interlaced": png(13, 11, interlaced=True),
        "png_texts": png(extra=text),
        "png_one_pixel": png(1, 1),
        "png_cut": good[:-20],
        "png_bad_crc": good[:45] + b"\xff" + good[46:],
        "png_no_pixels": png(data=zlib.compress(b"")),
        "png_zero_width": png(0, 8, data=zlib.compress(b"")),
        "png_huge": png(100000, 100000, data=zlib.compress(b"")),
        "png_head_only": good[:8],
        "jpeg_rgb": jpeg(),
        "jpeg_grey": jpeg(components=1),
        "jpeg_progressive": jpeg(progressive=True),
        "jpeg_cmyk": jpeg(components=4, adobe=0),
        "jpeg_ycck": jpeg(components=4, adobe=2),
        "jpeg_exif": jpeg(exif=True),
        "jpeg_turned": jpeg(24, 16, components=1, turn=6),
        "jpeg_bad_exif": jpeg(turn=3).replace(b"II*\0\x08\0\0\0", b"II*\0\xff\xff\xff\xff"),
        "jpeg_cut": jpeg(64, 64)[:-60],
        "jpeg_huge": jpeg(8, 8).replace(struct.pack(">HH", 8, 8), struct.pack(">HH", 60000, 60000)),
        "webp_plain": webp(),
        "webp_alpha": webp(argb=(128, 1, 2, 3), alpha=True),
        "webp_animated": animated_webp(),
        "webp_large": webp(16383, 16383),
        "webp_cut": webp()[:-4],
        "gif": gif(),
        "gif_cut": gif()[:8],
        "bmp": bmp(),
        "bmp_upside_down": bmp(3, -5),
        "not_a_picture": b"hello\n",
    }


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, data in corpus().items():
        with open(os.path.join(sys.argv[1], name), "wb") as file:
            file.write(data)


if __name__ == "__main__":
    main()
