"""Writes every golden file of the encoders: tokens, BERT, vision transformers, MiniLM.

    DISSENSUS_MINILM=MODEL python reference/embed/golden.py [FOLDER]

FOLDER is where they go, the folder of the tests if left out; another one to compare. Without
DISSENSUS_MINILM that file stays as it is.
"""

import os

import bert
import minilm
import tokens
import vit
from common import FOLDER

FOLDER.mkdir(parents=True, exist_ok=True)
for family in (tokens, bert, vit):
    family.write()
if "DISSENSUS_MINILM" in os.environ:
    minilm.write()
