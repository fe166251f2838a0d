"""Writes the hand-made hostile files of the corpus.

    python crates/votes/tests/corpus/make.py

The files are checked in, and `corpus.rs` says how each is refused; run this only to add one.
Needs nothing but Python. What a fuzzer found stands beside them and is not made here.
"""

import gzip
import io
import pickle
import struct
import zipfile
import zlib
from pathlib import Path

HERE = Path(__file__).parent


def put(target, name, data):
    folder = HERE / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)


def packed(data):
    return gzip.compress(data, mtime=0)


CSV = b"item,annotator,label\na,w,x\na,v,y\nb,w,y\n"

# Text

put("auto", "empty", b"")
put("auto", "blank", b" \n\r\n\t")
put("auto", "bom_only", b"\xef\xbb\xbf")
put("auto", "utf16_le.csv", b"\xff\xfe" + CSV.decode().encode("utf-16-le"))
put("auto", "utf16_be.csv", b"\xfe\xff" + CSV.decode().encode("utf-16-be"))
put("auto", "utf16_without_mark.csv", CSV.decode().encode("utf-16-le"))
put("auto", "latin1.csv", "item,annotator,label\na,w,caf\xe9\n".encode("latin1"))
put("auto", "cut.csv.gz", packed(CSV * 99)[:-9])
put("auto", "wrong_sum.csv.gz", packed(CSV)[:-8] + bytes(8))
put("auto", "cut.zst", bytes.fromhex("28b52ffd0458"))
put("auto", "long_line.csv.gz", packed(b"item,label\na," + b"x" * (8 << 20)))
put("auto", "long_line.jsonl.gz", packed(b'{"item": 1, "label": 2}\n{"item": "' + b"x" * (8 << 20)))
put("auto", "bomb.json.gz", packed(b"[" + b" " * (8 << 20) + b"]"))
put("auto", "deep.json", b"[" * 2000)
put("auto", "deep.jsonl", b'{"item": 1, "label": ' + b"[" * 200 + b"]" * 200 + b"}\n{}\n")
put("auto", "key_twice.json", '{"a": {"w": 1}, "a": {"w": 2}}')
put("auto", "key_twice.jsonl", '{"item": "a", "label": 1}\n{"item": "b", "label": 1, "label": 2}\n')
put("auto", "half_a_pair.jsonl", '{"item": "\\ud800", "label": 1}\n{"item": "b", "label": 1}\n')
put("auto", "too_large_a_number.jsonl", '{"item": 1, "label": 1e999}\n{"item": 2, "label": 1}\n')
put("long", "ragged.csv", CSV + b"c,w\n")
put("long", "open_quote.csv", b'item,label\na,"x\nb,y\nc,z\n')
put("long", "mixed_line_ends.csv", b"item,label\ra,x\rb,y\nc,z\n")
put("long", "weights.csv", "item,label,weight\na,x,-1\na,x,nan\na,x,inf\na,x,1e308\na,x,heavy\na,x,\n")
put("long", "class_numbers.csv", "item,annotator,label,class\na,w,x,0\nb,w,y,7\n")
put("long", "column_twice.csv", "item,label,label\na,x,y\n")
put("wide", "patterns.csv", "rater_1,rater_2,n\n1,2,1\n" + "1,1,99999999\n" * 9)
put("wide", "item_twice.csv", "id,rater_1,rater_2\na,1,2\na,2,2\n")
put("matrix", "numbers.csv", "id,cat,dog\na,NaN,1\nb,-3,inf\nc,1e99,0.5\nd,0.5\n")
put("matrix", "shares.csv", "id,cat,dog\na,0.5,0.2\nb,0.5,0.5\n")
put("chaosnli", "four_billion_votes.jsonl", '{"uid": "x", "label_counter": {"e": 4294967295}}\n{"uid": "y", "label_counter": {}}\n')
put("chaosnli", "late_classes.jsonl", '{"uid": "a", "label_counter": {"zebra": 1}}\n'
    '{"uid": "b", "label_counter": {"e": 1}, "label_count": [1, 0, 0]}\n')
put("peerannot", "no_name.json", '{"": {"w": 1}, "b": {"w": 1, "": 2}}')
put("prodigy", "no_label.jsonl", '{"accept": [""], "answer": "accept", "_input_hash": 1}\n' * 2)

# numpy


def npy(descr, shape, data=b"", fortran=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


put("npy", "huge.npy", npy("<i8", "(99999999999, 99999999999)"))
put("npy", "large.npy", npy("<i8", "(1000000000, 10)", bytes(16)))
put("npy", "no_rows.npy", npy("|u1", "(0, 99999999999)"))
put("npy", "no_columns.npy", npy("|u1", "(99999999999, 0)"))
put("npy", "cut.npy", npy("|u1", "(2, 2)", b"abc"))
put("npy", "objects.npy", npy("|O", "(1, 1)", pickle.dumps([print], 2)))
put("npy", "long_header.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{")
put("npy", "nan.npy", npy("<f8", "(1, 2)", struct.pack("<dd", 0.5, float("nan"))))
put("npy", "negative.npy", npy("|i1", "(1, 2)", b"\x03\xfe"))
put("array", "no_bytes.npy", npy("|S0", "(99999999999,)"))


def archive(members, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


counts = npy("|u1", "(2, 2)", bytes([1, 2, 3, 4]))
put("npz", "bomb.npz", archive({"counts.npy": npy("|u1", "(8388608, 1)", bytes(8 << 20))}))
put("npz", "bombs.npz", archive({f"{n}.npy": npy("|u1", "(1048576,)", bytes(1 << 20)) for n in range(6)}))
put("npz", "texts.npz", archive({"counts.npy": counts, "items.npy": npy("|S0", "(2,)")}))
put("npz", "weights.npz", archive({"counts.npy": counts, "weights.npy": npy("<f8", "(2, 2)", struct.pack("<dddd", 1, 1, 1e308, 1e308))}))
whole = archive({"counts.npy": counts}, zipfile.ZIP_STORED)
put("npz", "cut.npz", whole[:-30])
put("npz", "wrong_sum.npz", whole.replace(bytes([1, 2, 3, 4]), bytes([1, 2, 3, 5])))
# The number of members, which is not to be believed.
put("npz", "many.npz", whole.replace(b"PK\x05\x06\0\0\0\0\x01\0\x01\0", b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff"))

# Pickles


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value


attack = b"\x80\x02cposix\nsystem\nX\x04\x00\x00\x00true\x85R."
deep = b"\x80\x02)" + b"\x85" * 999_990 + b"."
# A key that would be printed 2⁶⁰ times.
doubled = b"\x80\x02}(Nq\x00" + b"".join(b"h\x00h\x00\x86q\x00" for _ in range(60)) + b"Nu."
copies = (b"\x80\x02c_codecs\nencode\nq\x00" + text(b"x" * 500_000) + b"q\x01" + text(b"latin1") + b"q\x02"
          + b"h\x00h\x01h\x02\x86R" * 60_000 + b".")
for name, program in [("system", attack), ("deep", deep), ("doubled", doubled), ("copies", copies)]:
    put("cifar10n", f"{name}.pt", archive({"archive/data.pkl": program}))
put("pickle", "system.pkl", attack)
put("pickle", "eval.pkl", b"\x80\x04\x8c\x08builtins\x94\x8c\x04eval\x94\x93\x94\x8c\x011\x94\x85R.")

# Parquet, in Thrift's compact protocol. A struct is a list of (id, type, bytes).

INT, LONG, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def number(value):
    return varint((value << 1 ^ value >> 63) & (1 << 64) - 1)


def fields(*entries):
    out, last = b"", 0
    for index, kind, data in entries:
        out, last = out + bytes([index - last << 4 | kind]) + data, index
    return out + b"\0"


def several(kind, elements):
    head = bytes([len(elements) << 4 | kind]) if len(elements) < 15 else bytes([0xF0 | kind]) + varint(len(elements))
    return head + b"".join(elements)


def column(name, kind=1, repetition=0, children=None):
    shape = [(5, INT, number(children))] if children is not None else []
    plain = [] if children is not None else [(1, INT, number(kind))]
    return fields(*plain, (3, INT, number(repetition)), (4, BINARY, varint(len(name)) + name), *shape)


def schema(*elements, children=1):
    root = fields((4, BINARY, b"\x01r"), (5, INT, number(children)))
    return several(STRUCT, [root, *elements])


def page(kind, packed_size, unpacked, header):
    at = {0: 5, 2: 7, 3: 8}[kind]
    return fields((1, INT, number(kind)), (2, INT, number(unpacked)), (3, INT, number(packed_size)), (at, STRUCT, header))


def values(n, encoding=0):
    return fields(*((i, INT, number(v)) for i, v in enumerate([n, encoding, 3, 3], 1)))


def parquet(body, rows, elements=None, kind=1, codec=0, n_values=None, extra=b"", names=(b"item",)):
    start = 4
    chunk = fields((1, INT, number(kind)), (2, LIST, several(INT, [number(0)])),
                   (3, LIST, several(BINARY, [varint(len(name)) + name for name in names])), (4, INT, number(codec)),
                   (5, LONG, number(rows if n_values is None else n_values)), (6, LONG, number(len(body))),
                   (7, LONG, number(len(body))), (9, LONG, number(start)))
    chunks = [fields((2, LONG, number(start)), (3, STRUCT, chunk))] if body else []
    group = fields((1, LIST, several(STRUCT, chunks)), (2, LONG, number(len(body))), (3, LONG, number(rows)))
    footer = fields((1, INT, number(1)), (2, LIST, elements or schema(column(b"item", kind))),
                    (3, LONG, number(rows)), (4, LIST, several(STRUCT, [group])))
    footer = footer[:-1] + extra + b"\0"
    return b"PAR1" + body + footer + struct.pack("<I", len(footer)) + b"PAR1"


ints = struct.pack("<iii", 1, 2, 3)
honest = page(0, 12, 12, values(3)) + ints
put("parquet", "honest.parquet", parquet(honest, 3))
put("parquet", "many_rows.parquet", parquet(honest, 1 << 62))
put("parquet", "negative_rows.parquet", parquet(honest, -3))
put("parquet", "rows_without_columns.parquet", parquet(b"", 1 << 62, schema(children=0)))
put("parquet", "many_values.parquet", parquet(page(0, 12, 12, values(2**31 - 1)) + ints, 3))
put("parquet", "large_page.parquet", parquet(page(0, 12, 2**31 - 1, values(3)) + ints, 3))
put("parquet", "page_outside.parquet", parquet(page(0, 2**31 - 1, 12, values(3)) + ints, 3))
dictionary = page(2, 8, 8, fields((1, INT, number(2**31 - 1)), (2, INT, number(0)))) + bytes(8)
put("parquet", "dictionary.parquet", parquet(dictionary + honest, 3, kind=6))
zeros = zlib.compressobj(9, zlib.DEFLATED, 31)
zeros = zeros.compress(bytes(8 << 20)) + zeros.flush()
put("parquet", "gzip_bomb.parquet", parquet(page(0, len(zeros), 12, values(3)) + zeros, 3, codec=2))
lengths = varint(128) + varint(4) + varint(2**40) + number(0)
put("parquet", "delta_lengths.parquet", parquet(page(0, len(lengths), len(lengths), values(3, 6)) + lengths, 3, kind=6))
# One list of 2²⁰ elements in twenty bytes: levels are run lengths.
run = varint((1 << 20) << 1) + b"\1"
levels = struct.pack("<I", len(run)) + run
one = struct.pack("<I", 4) + varint((1 << 20) << 1) + b"\0"
repeated = page(0, 2 * len(levels) + 6, 2 * len(levels) + 6, values(1 << 20, 8)) + levels + levels + b"\1" + run[:5]
put("parquet", "long_list.parquet", parquet(repeated, 1, schema(column(b"item", repetition=2)), n_values=1 << 20))
# Nested groups: each is the only child of the one before. Packed, for nothing else is that dull.
nested = schema(*(column(b"g", children=1) for _ in range(50_000)), column(b"item"))
put("parquet", "deep.parquet.gz", packed(parquet(honest, 3, nested, names=[b"g"] * 50_000 + [b"item"])))
# A field that nobody knows, with a list of lists of 2³¹ truth values, which take no bytes where skipped.
truths = bytes([0x09]) + number(60) + several(LIST, [b"\xf1" + varint(2**31 - 1)] * 50)
put("parquet", "truths.parquet", parquet(honest, 3, extra=truths))
decimal = fields((1, INT, number(6)), (3, INT, number(0)), (4, BINARY, b"\4item"), (6, INT, number(5)),
                 (7, INT, number(2**31 - 1)), (8, INT, number(2**31 - 1)))
put("parquet", "digits.parquet", parquet(page(0, 15, 15, values(3)) + (struct.pack("<I", 1) + b"1") * 3, 3, schema(decimal), kind=6))
put("parquet", "footer_outside.parquet", parquet(honest, 3)[:-8] + b"\xff\xff\xff\x7fPAR1")
put("parquet", "cut.parquet", parquet(honest, 3)[:-20])
