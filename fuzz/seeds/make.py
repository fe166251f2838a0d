"""Writes the seeds of the fuzz targets: small valid files of every format, and near misses.

    python fuzz/seeds/make.py

Needs numpy, pyarrow and Pillow (made with 2.4, 26.0 and 13.0). The files are checked in; run it again only to
add one. Nothing here depends on time or chance.
"""

import gzip
import io
import json
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

HERE = Path(__file__).parent


def put(target, name, data):
    folder = HERE / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def parquet(table, **options):
    out = io.BytesIO()
    options.setdefault("compression", "none")
    options.setdefault("write_statistics", False)
    pq.write_table(table, out, **options)
    return out.getvalue()


def bare(columns, schema=None, **options):
    """A Parquet file without pyarrow's own schema in it, which would be most of the bytes."""
    table = pa.table(columns, schema=schema)
    return parquet(table, store_schema=False, **options)


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz(**arrays):
    """As numpy.savez, without the time."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.save(member, array)
    return out.getvalue()


# The members of an archive as the targets take them: number of the name, length, bytes.
NAMES = ["counts", "items", "classes", "weights", "probabilities", "labels", "x", "data.pkl"]


def members(**parts):
    out = b""
    for name, part in parts.items():
        data = part if isinstance(part, bytes) else npy(part)
        index = NAMES.index("data.pkl" if name == "pickle" else name)
        out += struct.pack("<BH", index, len(data)) + data
    return out


def torch(pickled):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("archive/data.pkl"), pickled)
        archive.writestr(zipfile.ZipInfo("archive/version"), b"3\n")
    return out.getvalue()


# Long tables, one row per vote

put("long", "plain.csv", "item,annotator,label\na,w1,yes\na,w2,no\nb,w1,yes\nc,w3,\n")
put("long", "crowdkit.tsv", "task\tworker\tlabel\r\nt1\tw1\t0\r\nt1\tw2\t1\r\nt2\tw1\t1.0\r\n")
put("long", "quoted.csv", 'item,annotator,label\n"a,1",w,"say ""x"""\n"line\nbreak",w,y\n')
put("long", "bom.csv", "\ufeffid;user;rating\n1;u;3\n1;v;4\n")
put("long", "headerless.csv", "1,1,2\n1,2,3\n2,1,2\n")
put("long", "weights.csv", "item,annotator,label,weight\na,w,x,0.5\na,v,y,2\nb,w,x,1e300\nb,v,x,\n")
put("long", "canonical.csv", "item,annotator,label,class\na,w,zebra,0\na,v,ant,2\n,,mule,1\nb,,,\n")
put("long", "popquorn_raw.csv", "instance_id,user_id,offensiveness\n1,2,3.0\n1,3,4.0\n2,2,1.0\n")
put("long", "macintosh.csv", "item,label\ra,x\rb,y\r")
put("long", "mixed_ends.csv", "item,label\ra,x\rb,y\nc,z\n")
put("long", "open_quote.csv", 'item,label\na,"x\nb,y\nc,z\n')
put("long", "latin1.csv", "item,label\na,caf\xe9\nb,y\n".encode("latin1"))
put("long", "rows.jsonl", lines(
    {"task": "a", "worker": "w", "label": 1, "weight": 0.5}, {"task": "a", "worker": None, "label": 2.0},
    {"task": "b", "worker": "w", "label": None}))
put("long", "array.json", json.dumps([{"id": 1, "user": "u", "label": "x"}, {"id": 1, "user": "v", "label": "y"}]))
put("long", "table.parquet", bare({"item": ["a", "a", "b"], "annotator": ["w", None, "v"], "label": [0, 1, 1]}))

# Wide tables, one column per annotator

put("wide", "words.csv", "id,anna,ben,cleo\na,yes,no,\nb,no,no,yes\nc,yes,NaN,no\nd,no,no,no\n")
put("wide", "minus_one.csv", "rater_1,rater_2\n0,1\n-1,1\n")
put("wide", "patterns.csv", "rater_1,rater_2,n\n1.0,1.0,3.0\n1.0,2.0,2.0\n")
put("wide", "likert.tsv", "item\tann 1\tann 2\tann 3\nx\t-2\t-1\t1\ny\t0\t\t2\n")
put("wide", "rows.jsonl", lines({"id": "a", "rater_1": 1, "rater_2": None}, {"id": "b", "rater_1": 2, "rater_2": 1}))
put("wide", "table.parquet", bare({"id": ["a", "b"], "rater_1": [1, 2], "rater_2": [1.0, None]}))

# Matrices

put("matrix", "counts.csv", "id,cat,dog\na,3,1\nb,0,4\n")
put("matrix", "shares.csv", ",0,1,2\nx,0.5,0.25,0.25\ny,1,0,0\n")
put("matrix", "labels.csv", "a,b,c\n0,1,-1\n1,1,0\n")
put("matrix", "headerless.tsv", "1\t2\t3\t4\t5\n1\t3\t3\t0\t0\n")
put("matrix", "wrong.csv", "id,cat,dog\na,NaN,1\nb,-3,inf\nc,1e99,0.5\na,1\n")
put("matrix", "table.parquet", bare({"id": ["a", "b"], "cat": [3, 0], "dog": [1, 4]}))
put("matrix", "shares.parquet", bare({"id": ["a"], "cat": [0.25], "dog": [0.75]}, version="1.0"))

# numpy

put("npy", "counts.npy", npy(np.array([[3, 1], [0, 4]], "u1")))
put("npy", "shares.npy", npy(np.array([[0.25, 0.75], [1, 0]])))
put("npy", "labels.npy", npy(np.array([[0, 1, -1], [1, 1, 0]], "i1")))
put("npy", "fortran.npy", npy(np.asfortranarray(np.array([[1, 2, 3], [4, 5, 6]], "<i2"))))
put("npy", "big_endian.npy", npy(np.array([[1, 2]], ">f4")))
put("npy", "half.npy", npy(np.array([[0.5, 0.5]], "f2")))
put("array", "ids.npy", npy(np.array([2**63 - 1, -(2**53) - 1, 7], "i8")))
put("array", "texts.npy", npy(np.array(["ab", "é", ""])))
put("array", "bytes.npy", npy(np.array([b"ab", b"c"])))
put("array", "cube.npy", npy(np.zeros((2, 2, 2), "f2")))
put("array", "flags.npy", npy(np.array([True, False])))
put("array", "big_endian.npy", npy(np.array(["ab"], ">U2")))
for name, shape in [("huge", "(99999999999, 99999999999)"), ("no_rows", "(0, 99999999999)"), ("no_columns", "(99999999999, 0)")]:
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    put("npy", f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
header = b"{'descr': '|S0', 'fortran_order': False, 'shape': (99999999999,), }\n"
put("array", "no_bytes.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n"
put("array", "objects.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + pickle.dumps([1]))

counts = np.array([[3, 0, 1], [0, 4, 0]], "u4")
items, classes = np.array(["a", "b"]), np.array(["x", "y", "z"])
put("npz", "ours.npz", npz(counts=counts, items=items, classes=classes))
put("npz", "named.npz", npz(arr_0=counts))
put("npz", "weighted.parts", members(counts=counts, weights=counts * 0.5, items=items, classes=classes))
put("npz", "shares.parts", members(probabilities=np.array([[0.25, 0.75]]), items=np.array([b"a"])))
put("npz", "labels.parts", members(labels=np.array([[0, 1], [-1, 2]], "i1"), items=np.array([7, 8])))
put("npz", "two.parts", members(x=counts, labels=counts))

# Torch archives and pickles

def arrays(**columns):
    return {name: np.array(values, "u1") for name, values in columns.items()}


votes = arrays(clean_label=[6, 9], random_label1=[6, 9], random_label2=[4, 9], random_label3=[6, 1])
one = arrays(noisy_label=[3, 98])


class Attack:
    def __reduce__(self):
        import os

        return os.system, ("true",)


for name, value, protocol in [("ten", votes, 2), ("hundred", one, 3), ("new", one, 4)]:
    put("cifar10n", f"{name}.pt", torch(pickle.dumps(value, protocol)))
    put("cifar10n", f"{name}.parts", members(pickle=pickle.dumps(value, protocol)))
    put("pickle", f"{name}.pkl", pickle.dumps(value, protocol))
put("cifar10n", "attack.pt", torch(pickle.dumps(Attack(), 2)))
put("pickle", "attack.pkl", pickle.dumps(Attack(), 4))
put("pickle", "plain.pkl", pickle.dumps({"a": [1, -2, 300, None, True, 1.5, 2**40], "b": ("x", b"y")}, 2))
put("pickle", "plain4.pkl", pickle.dumps({"a": [1, -2, 300, None, True, 1.5, 2**40], "b": ("x", b"y")}, 4))

# Python's lists

put("python", "numbers", "[3.0, 4, -1e3, nan, None]")
put("python", "texts", "['a', \"it's\", 'say \\'x\\'', '\\u00e9\\n', '\\x41', '\\U0001f600']")
put("python", "nested", " [ ('a', 'b'), ['c',], [], True ] ")
put("python", "json", '["a", null, "\\ud83d\\ude00", 1e3]')
put("python", "numpy", "[1. 2. 3.]")

# Documents and JSON Lines of the annotation tools and data sets

put("chaosnli", "three.jsonl", lines(
    {"uid": "1", "label_counter": {"e": 30, "n": 70}, "label_count": [30, 70, 0], "entropy": 0.881,
     "example": {"premise": "A.", "hypothesis": "B."}},
    {"uid": "2", "label_counter": {"c": 100}, "label_count": [0, 0, 100], "entropy": 0.0}))
put("chaosnli", "two.jsonl", lines({"uid": "x", "label_counter": {"1": 3, "2": 97}, "label_count": [3, 97]},
                                   {"uid": "y", "label_counter": {"1": 4294967295}}))
put("chaosnli", "late.jsonl", lines({"uid": "a", "label_counter": {"zebra": 1}},
                                    {"uid": "b", "label_counter": {"e": 1}, "label_count": [1, 0, 0]}))

put("lewidi-2023", "hate.json", json.dumps({
    "1": {"text": "A.", "number of annotations": 3, "annotations": "0,0,1", "annotators": "Ann1,Ann2,Ann3",
          "hard_label": "0", "soft_label": {"0": 0.67, "1": 0.33}},
    "2": {"text": {"a": "B."}, "annotations": "0, 0", "annotators": "Ann1, Ann4", "soft_label": {"0": 1.0, "1": 0.0}}}))
put("lewidi-2023", "recoded.json", json.dumps({
    "1": {"annotations": "-3,1", "annotators": "a,b", "hard_label": "1", "soft_label": {"0": 0.5, "1": 0.5}}}))
put("lewidi-2025", "nli.json", json.dumps({
    "9": {"text": {"context": "C.", "statement": "S."}, "number of annotators": 3, "number of annotations": 4,
          "annotators": "Ann1,Ann2,Ann4",
          "annotations": {"Ann1": "neutral", "Ann2": "entailment,neutral", "Ann4": "entailment"},
          "soft_label": {"entailment": {"0": 0.3, "1": 0.7}, "neutral": {"0": 0.3, "1": 0.7}}}}))
put("lewidi-2025", "likert.json", json.dumps({
    "5": {"text": "{\"q\": \"A?\"}", "annotators": "Ann1,Ann2", "annotations": {"Ann1": "-2", "Ann2": 1},
          "soft_label": {"-2": 0.5, "-1": 0.0, "1": 0.5}},
    "6": {"annotators": "", "annotations": {}}}))

put("popquorn", "lists.csv", "instance_id,text,scores,users,label\n"
    "a,Hello.,\"[3.0, 4.0, nan]\",\"['u1', 'u2', 'u3']\",3.5\nb,Bye.,\"[5.0, 2.5]\",\"['u1', None]\",3.75\n")
put("popquorn", "rows.jsonl", lines({"id": 1, "scores": [1, 2], "users": ["a", "b"], "label": 1.5}))
put("popquorn", "table.parquet", bare({"instance_id": ["a"], "scores": [[3.0, 4.0]], "users": [["u", "v"]]}))

task = {"id": 11, "data": {"text": "Good."}, "drafts": [{}], "predictions": [{}], "annotations": [
    {"completed_by": 1, "was_cancelled": False, "result": [
        {"type": "choices", "from_name": "mood", "value": {"choices": ["pos"]}},
        {"type": "textarea", "from_name": "why", "value": {"text": ["because"]}}]},
    {"completed_by": {"id": 2, "email": "b@x.org"}, "result": [
        {"type": "choices", "from_name": "mood", "value": {"choices": ["neg", "pos"]}}]}]}
put("label-studio", "tasks.json", json.dumps([task, {"id": 12, "data": {}, "annotations": []}]))
put("label-studio", "rating.json", json.dumps([{"id": 1, "data": {}, "completions": [
    {"completed_by": 1, "result": [{"type": "rating", "from_name": "r", "value": {"rating": 4}}]}]}]))
put("label-studio", "min.json", json.dumps([
    {"text": "A.", "id": 5, "mood": "pos", "annotator": 1, "annotation_id": 7},
    {"text": "A.", "id": 5, "mood": {"choices": ["pos", "neg"]}, "annotator": 2, "annotation_id": 8},
    {"id": 6, "mood": [{"rating": 3}], "annotator": 2, "annotation_id": 9, "created_at": "x"}]))

put("argilla", "records.jsonl", lines(
    {"id": "r1", "text": "A.", "mood.responses": ["pos", "neg", "pos"], "mood.responses.users": ["a", "b", "c"],
     "mood.responses.status": ["submitted", "draft", "submitted"]},
    {"id": "r2", "mood.responses": [["x", "y"], None], "mood.responses.users": ["a", "b"],
     "mood.responses.status": ["submitted", "discarded"]},
    {"id": "r3", "mood.responses": None}))
put("argilla", "lists.csv", "text,q.responses,q.responses.users\nA.,\"[1, 2]\",\"['a', 'b']\"\nB.,,\n")
put("argilla", "table.parquet", bare({"id": ["a"], "q.responses": [["x", "y"]], "q.responses.users": [["u", "v"]]}))

put("prodigy", "choice.jsonl", lines(
    {"text": "A.", "accept": ["x"], "answer": "accept", "_input_hash": -12, "_annotator_id": "db-ann", "_session_id": "s"},
    {"text": "A.", "accept": ["y", "x"], "answer": "accept", "_input_hash": -12, "_annotator_id": None, "_session_id": "t"},
    {"text": "B.", "accept": [], "answer": "ignore", "_input_hash": 40, "_session_id": "s"}))
put("prodigy", "binary.jsonl", lines(
    {"label": "SPORT", "answer": "accept", "_input_hash": 1, "_session_id": "a"},
    {"label": "SPORT", "answer": "reject", "_input_hash": 1, "_session_id": "b"},
    {"label": "NEWS", "answer": "accept", "_input_hash": 1, "_session_id": "b"}))

put("peerannot", "answers.json", '{"0": {"0": 1, "1": 0, "7": 1}, "1": {"0": -1}, "2": {}}')
put("peerannot", "inversed.json", '{"w1": {"img3": "cat", "img1": "dog"}, "w2": {"img1": "cat", "": null}}')
put("peerannot", "metadata.json", '{"name": "toy", "n_classes": 2, "n_workers": 4}')

hate = {"post_id": "p1", "annotators": {"annotator_id": [1, 2], "label": ["hate", "normal"], "target": [[], []]}}
put("huggingface", "lists.jsonl", lines(hate, {"post_id": "p2", "text": "B.", "annotators": {"annotator_id": [1, None], "label": ["normal", None]}},
                                        {"post_id": "p3", "annotators": None}))
put("huggingface", "structs.jsonl", lines(
    {"words": "A.", "votes": [{"worker": "a", "answer": 3}, {"worker": "b", "answer": [4, 5]}]}, {"words": "B.", "votes": []}))
features = {"info": {"features": {"annotators": {"feature": {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}}}}}
nested = pa.table({"id": [1, 2], "annotators": [{"annotator_id": [1, 2], "label": [0, 1]}, {"annotator_id": [3], "label": [-1]}]})
nested = nested.replace_schema_metadata({"huggingface": json.dumps(features)})
put("huggingface", "features.parquet", parquet(nested))
put("huggingface", "structs.parquet", bare({"id": [1], "votes": [[{"worker": "a", "answer": 1}, {"worker": "b", "answer": 2}]]}))

# Parquet's own kinds of pages and values

columns = {"item": ["a", "a", "b"], "worker": ["v", "w", "w"], "label": ["x", "y", "x"]}
for codec in ["snappy", "gzip", "zstd", "lz4", "brotli"]:
    put("parquet", f"{codec}.parquet", bare(columns, compression=codec))
put("parquet", "plain.parquet", bare(columns, use_dictionary=False))
put("parquet", "pages2.parquet", bare(columns, data_page_version="2.0", compression="snappy"))
for name, encoding in [("delta_length", "DELTA_LENGTH_BYTE_ARRAY"), ("delta", "DELTA_BYTE_ARRAY")]:
    encodings = {name: encoding for name in columns}
    put("parquet", f"{name}.parquet", bare(columns, use_dictionary=False, column_encoding=encodings))
numbers = {"id": [1, 2, 3], "rater_1": [1, 2, 1], "rater_2": [2, 2, -1]}
packed = {name: "DELTA_BINARY_PACKED" for name in numbers}
put("parquet", "delta_numbers.parquet", bare(numbers, use_dictionary=False, column_encoding=packed))
split = {"item": ["a", "b"], "label": pa.array([1.5, 2.5], "float32")}
put("parquet", "split.parquet", bare(split, use_dictionary=False, column_encoding={"label": "BYTE_STREAM_SPLIT"}))
put("parquet", "kinds.parquet", bare({
    "id": pa.array([1], "uint64"), "label": pa.array([b"\x00\xff"], pa.binary(2)), "when": pa.array([1], pa.timestamp("us")),
    "much": pa.array([1], pa.decimal128(5, 2)), "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8())),
    "half": pa.array(np.array([0.5], "f2")), "flag": [True], "nan": [float("inf")]}))
put("parquet", "weights.parquet", bare({"item": ["a", "b"], "label": ["x", "y"], "weight": [float("nan"), float("inf")]}))
put("parquet", "groups.parquet", bare(columns, row_group_size=1, use_dictionary=False))
put("parquet", "votes.parquet", bare({"id": [1, 2], "annotators": [{"worker": [1], "label": [[0, 1]]}, None]}))

# Anything: packed files, other encodings, and one file of each kind

plain = b"item,annotator,label\na,w,x\nb,w,y\n"
put("auto", "long.csv.gz", gzip.compress(plain, mtime=0))
put("auto", "long.csv.zst", pa.compress(plain, codec="zstd", asbytes=True))
put("auto", "utf16.csv", plain.decode().encode("utf-16"))
put("auto", "deep.json", "[" * 300 + "]" * 300)
put("auto", "twice.json", '{"a": {"b": 1}, "a": {"b": 2}}')
put("auto", "empty.json", "{}")
for target in ["long", "wide", "matrix", "npy", "npz", "cifar10n", "chaosnli", "lewidi-2023", "lewidi-2025", "popquorn",
               "label-studio", "argilla", "prodigy", "peerannot", "huggingface"]:
    first = min(path for path in (HERE / target).iterdir() if path.suffix != ".parts")
    put("auto", f"{target}{first.suffix}", first.read_bytes())


# Everything that is not votes.

ROOT = HERE.parent.parent


def safetensors(tensors, metadata=None):
    """Tensors by name: dtype, shape, bytes."""
    head, body = {}, b""
    if metadata is not None:
        head["__metadata__"] = metadata
    for name, (dtype, shape, data) in tensors.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + body


def listed(*members):
    """Parts as the targets `logits` and `pack` take them: the number of a name, a length, the bytes."""
    return b"".join(struct.pack("<BH", name, len(data)) + data for name, data in members)


def floats(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def uncommented(path):
    """The start of a TOML file, without its comments."""
    rows = (row for row in path.read_text().splitlines() if row.strip() and not row.strip().startswith("#"))
    return "\n".join(rows) + "\n"


def others():
    ids, classes = np.array(["a", "b"]), np.array(["cat", "dog", "fish"])
    logits = np.array([[1, -1, 0.5], [0.25, 2, -3]], dtype=np.float32)
    shares = np.array([[0.2, 0.3, 0.5], [1, 0, 0]])

    put("predictions", "logits.npy", npy(logits))
    put("predictions", "shares.npz", npz(probabilities=shares, ids=ids, classes=classes))
    put("predictions", "table.csv", "id,cat,dog\na,0.25,0.75\nb,1,0\n")
    put("predictions", "headless.csv", "0.25,0.75\n1.0,0.0\n")
    put("predictions", "lists.jsonl", lines({"id": "a", "probabilities": [0.5, 0.5]}, {"id": "b", "probabilities": [1, 0]}))
    put("predictions", "objects.jsonl", lines({"id": "a", "logits": {"x": 1, "y": 2}}))
    one = {"uid": "u", "predicted_probabilities": [0.1, 0.2, 0.7], "predicted_label": "n"}
    put("predictions", "chaosnli.json", json.dumps({"bert": {"u": one}}))
    put("predictions", "table.parquet", bare({"id": ["a", "b"], "cat": [0.5, 0.1], "dog": [0.5, 0.9]}))
    put("predictions", "file.safetensors", safetensors({"logits": ("F32", [2, 3], logits.tobytes())}))

    put("inputs", "features.csv", "id,x,y\na,0.5,1\nb,-2,3e4\n")
    put("inputs", "lists.jsonl", lines({"id": "a", "embedding": [0.5, 1]}, {"id": "b", "embedding": [2, 3]}))
    put("inputs", "features.npy", npy(logits))
    put("inputs", "images.npy", npy(np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)))
    put("inputs", "images.npz", npz(images=np.zeros((2, 3, 2, 2), dtype=np.uint8), ids=ids))
    put("inputs", "index.csv", "id,file\na,one.png\nb,two.png\n")
    put("inputs", "table.parquet", bare({"id": ["a", "b"], "x": [0.5, 0.1]}))
    put("inputs", "file.safetensors", safetensors({"x": ("F16", [2, 2], bytes(8)), "ids": ("U8", [2], b"ab")}))

    for name, mode, colour in [("grey", "L", 7), ("rgb", "RGB", (1, 2, 3)), ("alpha", "RGBA", (1, 2, 3, 255)), ("palette", "P", 1), ("bits", "1", 1)]:
        out = io.BytesIO()
        Image.new(mode, (3, 2), colour).save(out, "PNG")
        put("image", f"{name}.png", out.getvalue())
    for name, mode in [("grey", "L"), ("rgb", "RGB"), ("cmyk", "CMYK")]:
        out = io.BytesIO()
        Image.new(mode, (9, 8)).save(out, "JPEG", progressive=name == "rgb")
        put("image", f"{name}.jpg", out.getvalue())

    tensors = {"w": ("F32", [2, 2], floats(1, 2, 3, 4)), "b": ("F32", [2], floats(0, -1))}
    note = json.dumps({"format": 1, "epoch": 1, "state": {"best": 0}, "history": [{"epoch": 0, "rate": 0.1, "loss": 1.5}]})
    put("checkpoint", "whole.safetensors", safetensors(tensors, {"checkpoint": note}))
    put("checkpoint", "checksum.safetensors", safetensors(tensors, {"checkpoint": note, "crc32c": "00000000"}))
    put("checkpoint", "weights.safetensors", safetensors(tensors))
    put("safetensors", "whole.safetensors", safetensors(tensors, {"a": "b"}))
    kinds = [("F64", 8), ("BF16", 2), ("F16", 2), ("I64", 8), ("U8", 1), ("BOOL", 1), ("I16", 2)]
    put("safetensors", "kinds.safetensors", safetensors({kind: (kind, [2], bytes(2 * size)) for kind, size in kinds}))
    put("safetensors", "empty.safetensors", safetensors({"x": ("F32", [0, 3], b"")}))

    arrays = [npy(logits), npy(ids), npy(classes)]
    put("logits", "whole.npz", npz(logits=logits, ids=ids, classes=classes))
    put("logits", "whole.parts", listed(*enumerate(arrays)))

    status = {"state": "finished", "epoch": 1, "planned": 1, "updated": 2, "process": 3, "checksums": {"result.json": "00"}}
    put("run", "status.json", b"\0" + json.dumps(status).encode())
    put("run", "failed.json", b"\0" + json.dumps(dict(status, state="failed", reason="x")).encode())
    about = {"format": 1, "digest": "0", "created": 1, "about": {}, "continued": [{"at": 1, "about": None}]}
    put("run", "about.json", b"\1" + json.dumps(about).encode())
    put("run", "history.jsonl", b"\2" + lines({"epoch": 0, "rate": 0.1, "loss": 1.5, "test.kl": 0.25}).encode())
    result = {"arm": "soft", "seed": 1, "epochs": 2, "parts": {"test": {"items": 3, "best": {"kl": 1}, "last": {}}}}
    put("run", "result.json", b"\3" + json.dumps(result).encode())
    put("run", "predictions.npz", b"\4" + npz(logits=logits, ids=ids, classes=classes))

    csv = b"metric,slice,value\nkl,all,1\n"
    manifest = json.dumps({"format": 1, "made_by": "x", "runs": [], "files": [{"path": "studies/s/results.csv", "bytes": len(csv), "sha256": "00"}]})
    put("pack", "study.parts", listed((3, csv), (5, csv)))
    put("pack", "run.parts", listed((0, b"{}"), (1, json.dumps(status).encode()), (2, json.dumps(about).encode())))
    put("pack", "manifest.parts", listed((4, manifest.encode()), (3, csv)))
    put("pack", "outside.parts", listed((6, b"x"), (8, b"y")))

    put("results", "rows.csv", "study,dataset,arm,k,seed,metric,slice,value,run\ns,d,soft,5,1,kl,all,0.25,r\ns,d,\"a,b\",,2,kl,all,,r\n")

    spec = uncommented(ROOT / "crates/train/src/spec/template.toml")
    put("spec", "template.toml", spec)
    put("spec", "overrides.toml", "training.epochs=2\nrun.seeds=[1, 2]\ndelivery.methods=\"sls\"\0" + spec)
    put("spec", "seeds.toml", "[data]\ndataset='cifar10h'\n[delivery]\nmethods=['soft','sls']\n[run]\nseeds='0..3'\n")
    put("study", "own.toml", uncommented(ROOT / "crates/studies/src/own.toml"))
    put("study", "demo.toml", uncommented(ROOT / "crates/studies/src/builtin/demo.toml"))
    put("study", "template.toml", uncommented(ROOT / "crates/studies/src/template.toml"))

    golden = ROOT / "crates/embed/tests/golden"
    put("tokenizer", "golden.json", (golden / "bert/tokenizer.json").read_bytes())
    put("encoder", "bert.config", b"\0" + (golden / "bert/config.json").read_bytes())
    put("encoder", "vit.config", b"\1" + (golden / "vit/config.json").read_bytes())
    put("encoder", "bert.weights", b"\2" + safetensors(tensors))
    put("encoder", "modules", b"\4" + json.dumps([{"path": "1_Pooling", "type": "m.Pooling"}]).encode())
    put("encoder", "preprocessor", b"\7" + json.dumps({"size": {"shortest_edge": 32}, "crop_size": {"height": 28, "width": 28}}).encode())

    name = b"x"
    head = b"dissvec1" + struct.pack("<II", 8 + 4 + 4 + 64 + len(name) + 4, 2) + b"ab" * 32 + name + bytes(4)
    put("cache", "empty.vectors", head)
    put("cache", "record.vectors", head + bytes(32) + floats(1, 2) + bytes(4))
    put("cache", "wide.vectors", head.replace(struct.pack("<I", 2), struct.pack("<I", 2**32 - 1)))


others()
