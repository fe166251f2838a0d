//! Votes, runs and generated images as pages for a terminal.

pub use crate::figures::{model_figures, reliability_figure, votes_figure, write_model_figures};

use dissensus_core::{Scale, normalized_entropy};
use dissensus_data::blends::{Blends, SIDE, class_names};
use dissensus_report::plain::{
    Page, age, bar, curve, format_number, key_words, list, one_line, pad, setting, settings, size,
    thousands, width,
};
use dissensus_report::tables::{Columns, Style, TableForm};
use dissensus_store::{State, Status, Which};
use dissensus_train::{RunDetails, RunFile, RunResult, state_name};
use dissensus_votes::Note;
use dissensus_votes::agreement::{FLEISS, KRIPPENDORFF_NOMINAL, KRIPPENDORFF_ORDINAL};
use dissensus_votes::summary::{Ambiguous, LabelSets, Ratings, Spread, Summary};
use serde_json::Value;

/// With so many items or fewer, their votes say more than a histogram of them.
pub const FEW_ITEMS: usize = 12;

/// What is in a vote file: what was guessed, figures, how much people disagree, the classes, and the
/// items that they disagree on most. Of few items, only figures and votes.
pub fn votes_page(file: &str, notes: &[Note], summary: &Summary, style: &Style) -> String {
    let mut page = Page::new(style);
    page.title(&one_line(file, 80));
    if summary.items <= FEW_ITEMS {
        let said = notes.iter().map(|note| format!("{}: {}", note.what, one_line(&note.value, 70)));
        let said: Vec<String> = said.collect();
        if !said.is_empty() {
            page.row("read as", &said.join("; "));
        }
        figures(summary).iter().for_each(|(name, value)| page.row(name, value));
        few_items(&mut page, summary);
        return page.text;
    }
    for (i, note) in notes.iter().enumerate() {
        let name = if i == 0 { "read as" } else { "" };
        page.row(name, &format!("{}: {}", note.what, one_line(&note.value, 70)));
    }
    page.line("");
    figures(summary).iter().for_each(|(name, value)| page.row(name, value));
    if let Some(entropy) = &summary.entropy {
        page.section("How much people disagree (normalized entropy)");
        let most = entropy.histogram.iter().copied().max().unwrap_or(0);
        for (bin, &count) in entropy.histogram.iter().enumerate() {
            let range = format!("{:.1}–{:.1}", bin as f64 / 10.0, (bin + 1) as f64 / 10.0);
            let (range, bar) = ((style.dim)(&range), bar(count as f64, most as f64, 40));
            page.line(&format!("  {range} {bar} {}", thousands(count)));
        }
    }
    classes(&mut page, summary);
    ambiguous(&mut page, summary);
    page.text
}

/// The figures, a name and a text each.
fn figures(summary: &Summary) -> Vec<(&'static str, String)> {
    let count = thousands;
    let voted = summary.items - summary.items_without_votes;
    let share = |n: usize| {
        let percent = 100.0 * n as f64 / voted.max(1) as f64;
        format!("{} ({percent:.1} % of the items)", count(n))
    };
    let mut items = count(summary.items);
    if summary.items_without_votes > 0 {
        items += &format!(", {} of them without votes", count(summary.items_without_votes));
    }
    let votes = match (summary.votes, &summary.votes_per_item) {
        (Some(votes), Some(per)) => {
            let weighted = if summary.weighted { ", weighted" } else { "" };
            format!(
                "{}, per item {} to {}, median {}{weighted}",
                count(votes as usize),
                count(per.min as usize),
                count(per.max as usize),
                per.median
            )
        }
        _ => "unknown: only probabilities".to_owned(),
    };
    let names: Vec<&str> = summary.classes.iter().map(|c| c.name.as_str()).collect();
    let order = summary.class_order.describe();
    let scale = match summary.scale {
        Scale::Nominal => String::new(),
        other => format!(", {other}"),
    };
    let classes = format!("{}: {} ({order}{scale})", names.len(), list(&names, 60));
    let mut rows = vec![
        ("items", items),
        ("annotators", summary.annotators.map_or("not named".to_owned(), count)),
        ("votes", votes),
        ("classes", classes),
        ("unanimous", share(summary.unanimous)),
    ];
    rows.extend(summary.ties.map(|ties| ("ties", share(ties))));
    if let Some(entropy) = &summary.entropy {
        let mut line =
            format!("mean {:.5} nats = {:.5} bits", entropy.mean_nats, entropy.mean_bits);
        if let (Some(mean), Some(sd)) = (entropy.mean_normalized, entropy.sd_normalized) {
            line += &format!(" = {mean:.3} normalized (sd {sd:.3})");
        }
        rows.push(("entropy", line));
    }
    let figure = |name: &str, value: Option<f64>, why: &str| match value {
        Some(value) => format!("{name} {value:.4}"),
        None => format!("{name} undefined ({why})"),
    };
    let why_alpha = match (summary.votes, summary.weighted) {
        (None, _) => "no counts",
        (_, true) => "weighted votes",
        _ => "needs two votes on an item, and two classes used",
    };
    let why_kappa = match (summary.votes, summary.weighted, &summary.votes_per_item) {
        (None, ..) => "no counts",
        (_, true, _) => "weighted votes",
        (_, _, Some(per)) if per.min != per.max => "items have different numbers of votes",
        _ => "needs two votes on every item, and two classes used",
    };
    if let Some(ratings) = &summary.ratings {
        let Ratings { mean, median, sd, item_means, mean_item_sd, .. } = ratings;
        let Spread { min, median: middle, max } = item_means;
        rows.push(("ratings", format!("mean {mean:.4}, median {median}, sd {sd:.4}")));
        let items = format!("means {min:.4} to {max:.4}, median {middle:.4}");
        rows.push(("per item", format!("{items}; sd {mean_item_sd:.4} on average")));
    }
    if let Some(sets) = &summary.label_sets {
        rows.extend(label_sets(sets));
    }
    let coefficients = [
        (KRIPPENDORFF_ORDINAL, summary.ratings.as_ref().and_then(|r| r.krippendorff_alpha)),
        (KRIPPENDORFF_NOMINAL, summary.krippendorff_alpha),
        (FLEISS, summary.fleiss_kappa),
    ];
    let defined = coefficients.iter().filter(|(of, _)| of.scales.contains(&summary.scale));
    let worded = defined.map(|(of, value)| {
        figure(of.name, *value, if of.name == FLEISS.name { why_kappa } else { why_alpha })
    });
    let worded: Vec<String> = worded.collect();
    if !worded.is_empty() {
        rows.push(("agreement", worded.join(", ")));
    }
    rows.push(("digest", summary.digest.get(..16).unwrap_or_default().to_owned()));
    rows
}

/// The figures of sets of labels.
fn label_sets(sets: &LabelSets) -> Vec<(&'static str, String)> {
    let spread = |spread: &Spread<u64>| {
        let Spread { min, median, max } = spread;
        format!("{min} to {max}, median {median}")
    };
    let mut rows = Vec::new();
    if let (Some(per), Some(mean)) = (&sets.labels_per_vote, sets.mean_labels_per_vote) {
        let none = thousands(sets.votes_without_labels);
        let line = format!("{}, mean {mean:.4}; {none} without labels", spread(per));
        rows.push(("labels", format!("per vote {line}")));
    }
    if let Some(per) = &sets.sets_per_item {
        let all = thousands(sets.different_sets);
        let line = format!("different ones per item {}; {all} in all", spread(per));
        rows.push(("label sets", line));
    }
    rows
}

/// Classes that are listed one by one.
const CLASSES: usize = 20;

fn classes(page: &mut Page<'_>, summary: &Summary) {
    page.section(match summary.label_sets {
        None => "Shares of the classes",
        Some(_) => "Shares of the votes that are for each class",
    });
    let width = summary.classes.iter().take(CLASSES).map(|c| width(&c.name)).max();
    let width = width.unwrap_or(0).min(24);
    let most = summary.classes.iter().map(|c| c.share).fold(0.0, f64::max);
    for class in summary.classes.iter().take(CLASSES) {
        let name = pad(&one_line(&class.name, 24), width);
        let bar = bar(class.share, most, 40);
        page.line(&format!("  {name} {bar} {:.1} %", 100.0 * class.share));
    }
    if summary.classes.len() > CLASSES {
        page.line(&format!("  … and {} more", summary.classes.len() - CLASSES));
    }
}

fn ambiguous(page: &mut Page<'_>, summary: &Summary) {
    if !summary.most_ambiguous.is_empty() {
        page.section("Where people disagree most");
    }
    for item in &summary.most_ambiguous {
        let votes = match item.votes {
            None => String::new(),
            Some(1) => ", 1 vote".to_owned(),
            Some(n) => format!(", {} votes", thousands(n as usize)),
        };
        let relative = normalized_entropy(item.nats, summary.classes.len()).unwrap_or(0.0);
        let id = (page.style.bold)(&one_line(&item.item, 40));
        let entropy = (page.style.dim)(&format!("entropy {relative:.3}{votes}"));
        page.line(&format!("  {id}  {entropy}"));
        if let Some(content) = &item.text {
            page.line(&format!("    {}", one_line(content, 92)));
        }
        let mut shares: Vec<(usize, f64)> = item.shares.iter().copied().enumerate().collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        for (class, share) in shares.into_iter().filter(|s| s.1 > 0.0).take(4) {
            let name = pad(&one_line(&summary.classes[class].name, 14), 14);
            page.line(&format!("    {name} {} {:.0} %", bar(share, 1.0, 25), 100.0 * share));
        }
    }
}

/// The items that people disagree on most, one line each.
fn few_items(page: &mut Page<'_>, summary: &Summary) {
    if summary.most_ambiguous.is_empty() {
        return;
    }
    let some = summary.most_ambiguous.len() < summary.items - summary.items_without_votes;
    page.section(match (some, summary.votes.is_some() && !summary.weighted) {
        (true, _) => "Where people disagree most",
        (false, true) => "Votes per item",
        (false, false) => "Shares per item",
    });
    let name = |item: &Ambiguous| one_line(&item.item, 40);
    let widest = summary.most_ambiguous.iter().map(|item| width(&name(item))).max().unwrap_or(0);
    for item in &summary.most_ambiguous {
        let mut shares: Vec<(usize, f64)> = item.shares.iter().copied().enumerate().collect();
        shares.retain(|(_, share)| *share > 0.0);
        shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let votes = shares.iter().map(|&(class, share)| {
            let class = one_line(&summary.classes[class].name, 24);
            match item.votes.filter(|_| !summary.weighted) {
                Some(votes) => format!("{class} {:.0}", share * votes as f64),
                None => format!("{class} {:.0} %", 100.0 * share),
            }
        });
        let votes = votes.collect::<Vec<_>>().join(", ");
        page.line(&format!("  {}  {votes}", (page.style.bold)(&pad(&name(item), widest))));
        if let Some(content) = &item.text {
            page.line(&format!("    {}", one_line(content, 92)));
        }
    }
}

/// Everything about a stored run: its state, its settings, curves, figures and files.
pub fn run_page(run: &RunDetails, style: &Style) -> String {
    let mut page = Page::new(style);
    let title = run.label.clone().unwrap_or_else(|| format!("run {}", run.id));
    page.title(&one_line(&title, 80));
    status(&mut page, run);
    settings_of(&mut page, &run.spec);
    curves(&mut page, run);
    metrics(&mut page, run.result.as_ref());
    page.section(&format!("Files in {}", run.folder.display()));
    let name = |file: &RunFile| {
        let inside = file.path.strip_prefix(&run.folder).unwrap_or(&file.path);
        one_line(&inside.display().to_string(), 60)
    };
    let widest = run.files.iter().map(|file| width(&name(file))).max().unwrap_or(0);
    for file in &run.files {
        let size = (style.dim)(&size(file.bytes));
        page.line(&format!("  {}  {size}", pad(&name(file), widest)));
    }
    page.text
}

fn status(page: &mut Page<'_>, run: &RunDetails) {
    let Status { state, epoch, planned, .. } = &run.status;
    let (name, result) = ((page.style.bold)(state_name(state)), run.result.as_ref());
    let early = if result.is_some_and(|r| r.stopped_early) { ", stopped early" } else { "" };
    page.row("run", run.id.as_str());
    page.row("state", &format!("{name}, {epoch} of {planned} epochs{early}"));
    if let State::Failed { reason } = state {
        page.row("reason", &one_line(reason, 300));
    }
    if let Some(result) = result {
        let by = one_line(&result.selected_by, 60);
        page.row("selected", &format!("epoch {} by {by}", result.best_epoch + 1));
        let items = thousands(result.train_items);
        page.row("trained", &format!("on {items} items in {:.1} s", result.seconds));
        page.row("parameters", &thousands(result.parameters));
    }
    let mut begun = format!("{} ago", age(run.created));
    for continued in &run.continued {
        begun += &format!("; continued {} ago", age(continued.at));
    }
    page.row("begun", &begun);
    match &run.about {
        Value::Object(about) => {
            about.iter().for_each(|(key, value)| page.row(&key_words(key), &setting(value)));
        }
        Value::Null => {}
        other => page.row("about", &setting(other)),
    }
    page.row("size", &size(run.size_bytes));
}

/// The spec as it is stored, so that nothing is left out and older ones can be shown, too.
fn settings_of(page: &mut Page<'_>, spec: &Value) {
    page.section("Settings");
    let data = &spec["data"];
    page.row("data", &data_line(data));
    if data["judged_on"].is_object() {
        page.row("evaluate on", &data_line(&data["judged_on"]));
    }
    for (key, value) in spec["run"].as_object().into_iter().flatten() {
        let text = match value.is_object() && value.get("name").is_none() {
            true => settings(value, "; "),
            false => setting(value),
        };
        page.row(&key_words(key), &text);
    }
}

/// A dataset in a line.
fn data_line(data: &Value) -> String {
    let name = one_line(data["name"].as_str().unwrap_or("not named"), 40);
    let items = data["items"].as_u64().map_or("–".to_owned(), |n| thousands(n as usize));
    let digest = |key: &str| data[key].as_str().and_then(|d| d.get(..12)).unwrap_or("–").to_owned();
    let (votes, inputs) = (digest("votes_digest"), digest("inputs_digest"));
    format!("{name}, {items} items; votes {votes}…; inputs {inputs}…")
}

/// The loss and the metric that selects, by epoch.
fn curves(page: &mut Page<'_>, run: &RunDetails) {
    if run.history.is_empty() {
        return;
    }
    page.section("Epochs");
    let selection = &run.spec["run"]["selection"];
    let selecting = selection["on"].as_str().zip(selection["metric"].as_str());
    let mut keys = vec!["loss".to_owned()];
    keys.extend(selecting.map(|(on, metric)| format!("{on}.{metric}")));
    let widest = keys.iter().map(|key| width(key)).max().unwrap_or(0);
    for key in &keys {
        let values: Vec<Option<f64>> = run.history.iter().map(|row| row.column(key)).collect();
        let end = |value: Option<&Option<f64>>| format_number(value.copied().flatten());
        let (first, last) = (end(values.first()), end(values.last()));
        let (name, curve) = ((page.style.dim)(&pad(key, widest)), curve(&values, 50));
        page.line(&format!("  {name}  {curve}  {first} → {last}"));
    }
}

/// Every metric of the selected and the last epoch, for each part.
fn metrics(page: &mut Page<'_>, result: Option<&RunResult>) {
    let Some(parts) = result.map(|result| &result.parts) else { return };
    page.section("Figures");
    let mut columns = Columns::new(TableForm::Terminal).name("metric", |metric: &&str| *metric);
    for (name, part) in parts {
        for which in [Which::Best, Which::Last] {
            let head = format!("{name} {}", which.name());
            columns = columns.value(&head, move |metric| part.metrics(which).get(metric));
        }
    }
    let metrics = parts.iter().take(1).flat_map(|(_, part)| part.best.iter());
    let metrics: Vec<&str> = metrics.map(|(metric, _)| metric).collect();
    let table = columns.table(&metrics).terminal(page.style);
    table.lines().for_each(|line| page.line(&format!("  {line}")));
}

/// A clear image, a doubtful one and one that splits people, each with votes and true distribution.
pub fn images_page(blends: &Blends, style: &Style) -> String {
    let mut page = Page::new(style);
    page.section("Three images, their votes and their true distributions");
    let mut order: Vec<usize> = (0..blends.len()).collect();
    let entropy = |item: usize| dissensus_core::entropy(blends.truth(item));
    order.sort_by(|&a, &b| entropy(a).total_cmp(&entropy(b)));
    let counts = blends.table().counts();
    let names = class_names();
    for share in [5, 75, 99] {
        let Some(&item) = order.get(blends.len() * share / 100) else {
            continue;
        };
        let votes = counts.as_ref().map(|c| c.row(item, names.len())).unwrap_or_default();
        let total: f64 = votes.iter().sum();
        let truth = blends.truth(item);
        let mut classes: Vec<usize> = (0..names.len()).collect();
        classes.sort_by(|&a, &b| truth[b].total_cmp(&truth[a]));
        let mut lines = vec![
            (style.bold)(blends.table().items().name(item)),
            (style.dim)(&format!("{:<11} {:<20}       {}", "", "votes", "truth")),
        ];
        for &class in classes.iter().take(4) {
            let cast = votes.get(class).copied().unwrap_or(0.0) / total.max(1.0);
            let name = pad(names[class], 11);
            let (left, right) = (bar(cast, 1.0, 20), bar(truth[class], 1.0, 20));
            let (cast, true_share) = (100.0 * cast, 100.0 * truth[class]);
            lines.push(format!("{name} {left} {cast:>3.0} %  {right} {true_share:>3.0} %"));
        }
        for row in 0..SIDE / 2 {
            let line = lines.get(row).map_or("", String::as_str);
            page.line(&format!("  {}   {line}", half_blocks(blends.image(item), row)));
        }
        page.line("");
    }
    page.text
}

/// Two rows of pixels as one line of text: shades of grey as blocks.
fn half_blocks(image: &[u8], row: usize) -> String {
    const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    let pixel = |y: usize, x: usize| u32::from(image.get(y * SIDE + x).copied().unwrap_or(0));
    (0..SIDE)
        .flat_map(|x| {
            let mean = (pixel(2 * row, x) + pixel(2 * row + 1, x)) / 2;
            let shade = SHADES[(mean as usize * SHADES.len() / 256).min(SHADES.len() - 1)];
            [shade]
        })
        .collect()
}
