//! The template is a valid spec, and says of every key what the code says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use dissensus_train::spec::{KEYS, Key, SECTIONS, When, choices};
use dissensus_train::{Spec, template};
use toml::{Table, Value};

/// (section, key, value) of every line that sets something, commented out or not.
fn lines() -> Vec<(String, String, Value)> {
    let (mut section, mut found) = (String::new(), Vec::new());
    for line in template().lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
            continue;
        }
        let (text, comment) = match line.strip_prefix("# ") {
            Some(text) => (text, true),
            None => (line, false),
        };
        let Ok(table) = text.parse::<Table>() else {
            assert!(comment, "{line}");
            continue;
        };
        for (key, value) in table {
            let inner = format!("{section}.{key}");
            match &value {
                Value::Table(table) if SECTIONS.contains(&inner.as_str()) => {
                    for (key, value) in table {
                        found.push((inner.clone(), key.clone(), value.clone()));
                    }
                }
                _ => found.push((section.clone(), key, value)),
            }
        }
    }
    found
}

#[test]
fn it_is_a_spec_of_defaults() {
    let mut spec = Spec::parse(template(), "template", &[]).unwrap();
    let minimal = "[data]\ndataset = 'blends'\n[delivery]\nmethods = ['soft', 'sls', 'multipass']";
    let minimal = Spec::parse(minimal, "minimal", &[]).unwrap();
    spec.stated.clone_from(&minimal.stated);
    assert_eq!(spec, minimal);
}

#[test]
fn every_key_stands_in_it_with_its_default() {
    let lines = lines();
    for key in KEYS.iter() {
        let written: Vec<&Value> = lines
            .iter()
            .filter(|(section, name, ..)| section == key.section && name == key.name)
            .map(|(_, _, value)| value)
            .collect();
        assert!(!written.is_empty(), "{} is not in the template", key.path());
        if let Some(default) = key.default {
            let default: Value = default.parse().unwrap();
            assert!(written.contains(&&default), "{} is {default}, not {written:?}", key.path());
        }
    }
}

#[test]
fn nothing_else_stands_in_it() {
    for (section, name, value) in lines() {
        let keys: Vec<_> =
            KEYS.iter().filter(|key| key.section == section && key.name == name).collect();
        assert!(!keys.is_empty(), "{section}.{name} is no key");
        let fits = |key: &&Key| match key.default {
            Some(default) => default.parse::<Value>().unwrap() == value,
            None => true,
        };
        let fits = keys.iter().any(fits);
        assert!(fits, "{section}.{name} = {value} is not the default");
    }
    // Sections as in the code, and in its order.
    let heads = template().lines().filter_map(|line| line.strip_prefix('['));
    let heads: Vec<&str> = heads.map(|line| line.trim_end_matches(']')).collect();
    let top: Vec<&str> = SECTIONS.iter().copied().filter(|name| !name.contains('.')).collect();
    assert_eq!(heads, top);
}

/// Each group of commented lines is a valid setting with the choice it belongs to.
#[test]
fn what_is_commented_out_can_be_switched_on() {
    for key in KEYS.iter() {
        let Some(default) = key.default else { continue };
        let set = format!("{}={default}", key.path());
        if let When::IsWith(other, value, third) = key.when {
            // Any text does for what must be there; without it the default is another.
            let overrides = [format!("{third}=text"), format!("{other}={value}"), set];
            let spec = Spec::parse(template(), "template", &overrides);
            assert!(spec.is_ok(), "{overrides:?}: {}", spec.unwrap_err());
            let spec = Spec::parse(template(), "template", &overrides[1..]);
            assert!(spec.is_err(), "{:?}", &overrides[1..]);
            continue;
        }
        let When::Is(other, value) = key.when else { continue };
        let overrides = [format!("{other}={value}"), set];
        let spec = Spec::parse(template(), "template", &overrides);
        assert!(spec.is_ok(), "{overrides:?}: {}", spec.unwrap_err());
        // With any other choice it is refused, unless it stands there, too.
        for another in choices(other).unwrap().iter().filter(|another| **another != value) {
            let stands = |when| when == When::Always || when == When::Is(other, another);
            let known = KEYS.iter().any(|k| k.path() == key.path() && stands(k.when));
            let overrides = [format!("{other}={another}"), format!("{}={default}", key.path())];
            let spec = Spec::parse(template(), "template", &overrides);
            assert!(known || spec.is_err(), "{overrides:?}");
        }
    }
}

/// A choice that the list offers and the reader refuses would be advice that fails.
#[test]
fn every_choice_can_be_made() {
    for key in KEYS.iter() {
        let path = key.path();
        let stands = match key.when {
            When::Always => vec![],
            When::With(other) => vec![format!("{other}=text")],
            When::Is(other, value) => vec![format!("{other}={value}")],
            When::IsWith(other, value, third) => {
                vec![format!("{third}=text"), format!("{other}={value}")]
            }
        };
        for choice in choices(&path).unwrap_or_default() {
            let overrides = [&stands[..], &[format!("{path}={choice}")]].concat();
            let refused =
                ["dataset = 'any'", "votes = 'v'\ninputs = 'i'", "votes = 'v'\nencoder = 'e'"]
                    .map(|data| format!("[data]\n{data}\n[delivery]\nmethods = 'soft'"))
                    .map(|text| Spec::parse(&text, "test", &overrides).err());
            assert!(refused.contains(&None), "{path}: {choice:?} is refused: {refused:?}");
        }
    }
}

#[test]
fn its_words_name_every_choice() {
    let text = template();
    let paths: BTreeSet<String> = KEYS.iter().map(|key| key.path()).collect();
    for name in paths.iter().filter_map(|path| choices(path)).flatten() {
        assert!(text.contains(&format!("\"{name}\"")), "{name} is not explained");
    }
    for delivery in dissensus_labels::DELIVERIES {
        assert!(text.contains(delivery.name), "{} is not named", delivery.name);
    }
    for target in dissensus_labels::TARGETS {
        assert!(text.contains(target.name), "{} is not named", target.name);
    }
}
