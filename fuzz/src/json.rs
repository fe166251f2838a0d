//! Changes to JSON that leave it JSON: of bytes changed at random, hardly any still are.

use libfuzzer_sys::fuzzer_mutate;
use serde_json::{Map, Value, json};

/// Keys of all formats, for one of them to stand where it is not expected.
const KEYS: [&str; 44] = [
    "",
    "0",
    "1",
    "a",
    "w1",
    "Ann1",
    "id",
    "uid",
    "item",
    "text",
    "data",
    "label",
    "labels",
    "answer",
    "accept",
    "annotations",
    "annotators",
    "annotator",
    "annotator_id",
    "annotation_id",
    "completions",
    "completed_by",
    "was_cancelled",
    "drafts",
    "predictions",
    "result",
    "type",
    "from_name",
    "value",
    "choices",
    "rating",
    "email",
    "label_counter",
    "label_count",
    "entropy",
    "soft_label",
    "hard_label",
    "number of annotations",
    "_input_hash",
    "_annotator_id",
    "_session_id",
    "q.responses",
    "q.responses.users",
    "q.responses.status",
];

fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(false),
        json!(-1),
        json!(0),
        json!(1),
        json!(2.0),
        json!(1.5),
        json!(-0.0),
        json!(1e308),
        json!(4294967295u32),
        json!(9007199254740993u64),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(""),
        json!(" "),
        json!("\0"),
        json!("a"),
        json!("b"),
        json!("1"),
        json!("1.0"),
        json!("NaN"),
        json!("not a"),
        json!("0,1"),
        json!("a, b"),
        json!(","),
        json!("accept"),
        json!("reject"),
        json!("ignore"),
        json!("choices"),
        json!("rating"),
        json!("submitted"),
        json!("draft"),
        json!("[1, 2]"),
        json!("['a', None]"),
        json!([]),
        json!({}),
        json!(["a"]),
        json!(["a", "b"]),
        json!(["a", "a"]),
        json!([1, null]),
        json!([["a"]]),
        json!({"a": 1}),
        json!({"0": 0.5, "1": 0.5}),
        json!({"1": {"0": 0, "1": 1}}),
        json!({"choices": ["a"]}),
        json!({"rating": 3}),
        json!([{"a": 1}]),
        json!({"a": "b", "c": "b"}),
    ]
}

/// Numbers that follow from a seed (xorshift).
struct Dice(u32);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 as usize % sides.max(1)
    }
}

/// Changes `data[..size]` in place; its new size. As libFuzzer asks for it.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut dice = Dice(seed | 1);
    if dice.roll(4) > 0
        && let Some(changed) = changed(&data[..size], &mut dice)
        && changed.len() <= max_size.min(data.len())
    {
        data[..changed.len()].copy_from_slice(&changed);
        return changed.len();
    }
    fuzzer_mutate(data, size, max_size)
}

fn changed(bytes: &[u8], dice: &mut Dice) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    if let Ok(mut document) = serde_json::from_str::<Value>(text) {
        (0..=dice.roll(3)).for_each(|_| change(&mut document, dice));
        return serde_json::to_vec(&document).ok();
    }
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    let mut lines = lines.ok().filter(|lines| !lines.is_empty())?;
    let at = dice.roll(lines.len());
    match dice.roll(8) {
        0 => lines.push(lines[at].clone()),
        1 => drop(lines.remove(at)),
        _ => (0..=dice.roll(3)).for_each(|_| change(&mut lines[at], dice)),
    }
    Some(lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect())
}

/// Changes one value somewhere inside.
fn change(value: &mut Value, dice: &mut Dice) {
    let spare = nth(value, &mut dice.roll(count(value))).cloned().unwrap_or(Value::Null);
    let mut place = dice.roll(count(value));
    let Some(node) = nth_mut(value, &mut place) else {
        return;
    };
    match (dice.roll(6), node) {
        (0, node) => *node = spare,
        (1, Value::Array(list)) => list.push(spare),
        (2, Value::Array(list)) if !list.is_empty() => {
            let at = dice.roll(list.len());
            list.push(list[at].clone());
        }
        (3, Value::Array(list)) if !list.is_empty() => drop(list.remove(dice.roll(list.len()))),
        (1, Value::Object(map)) => drop(map.insert(KEYS[dice.roll(KEYS.len())].to_owned(), spare)),
        (2, Value::Object(map)) => drop(remove(map, dice)),
        (3, Value::Object(map)) => {
            if let Some((_, old)) = remove(map, dice) {
                map.insert(KEYS[dice.roll(KEYS.len())].to_owned(), old);
            }
        }
        (_, node) => {
            let values = values();
            *node = values[dice.roll(values.len())].clone();
        }
    }
}

fn remove(map: &mut Map<String, Value>, dice: &mut Dice) -> Option<(String, Value)> {
    let key = map.keys().nth(dice.roll(map.len()))?.clone();
    map.remove_entry(&key)
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

fn nth<'v>(value: &'v Value, place: &mut usize) -> Option<&'v Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Array(list) => list.iter().find_map(|inner| nth(inner, place)),
        Value::Object(map) => map.values().find_map(|inner| nth(inner, place)),
        _ => None,
    }
}

fn nth_mut<'v>(value: &'v mut Value, place: &mut usize) -> Option<&'v mut Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Array(list) => list.iter_mut().find_map(|inner| nth_mut(inner, place)),
        Value::Object(map) => map.values_mut().find_map(|inner| nth_mut(inner, place)),
        _ => None,
    }
}
