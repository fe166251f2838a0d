#![no_main]

dissensus_fuzz::target!("tokenizer", json);
