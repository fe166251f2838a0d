//! Our side of bench/embed: MODEL and a JSON list of texts; prints one line of JSON a repetition.
//!
//! The number of threads is rayon's: `RAYON_NUM_THREADS`.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use dissensus_embed::{Bert, Encoder};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, model, texts, repeats] = &arguments[..] else {
        return Err("throughput MODEL TEXTS REPEATS".into());
    };
    let texts: Vec<String> = serde_json::from_slice(&std::fs::read(texts)?)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let bert = Bert::open(Path::new(model))?;
    let tokens: usize = texts.iter().map(|text| bert.tokens(text).len()).sum();
    let threads = rayon::current_num_threads();
    for _ in 0..repeats.parse()? {
        let start = Instant::now();
        let vectors = bert.texts(&texts, &mut |_| true)?;
        let seconds = start.elapsed().as_secs_f64();
        let sum: f64 = vectors.iter().map(|&x| f64::from(x)).sum();
        let line = serde_json::json!({
            "what": bert.identity().name, "threads": threads, "texts": texts.len(),
            "tokens": tokens, "seconds": seconds, "sum": sum,
        });
        println!("{line}");
    }
    Ok(())
}
