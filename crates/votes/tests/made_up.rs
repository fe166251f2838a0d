//! Files as strangers have them, made up: each is read right, or refused; a refusal proposes a reading only where it is
//! certain, and the reading that it proposes is right.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;

use dissensus_votes::{ReadOptions, VoteFile, read_bytes};

/// What must become of a file.
enum Wanted {
    /// It is read: items, votes, classes.
    Read(usize, u64, &'static str),
    /// It is refused, and every way that is proposed gives one of these; there are so many ways.
    Ways(usize, &'static [(usize, u64, &'static str)]),
    /// It is refused for this reason, and nothing is proposed.
    Refused(&'static str),
}

use Wanted::{Read, Refused, Ways};

struct Case {
    name: &'static str,
    text: String,
    wanted: Wanted,
}

fn case(name: &'static str, text: impl Into<String>, wanted: Wanted) -> Case {
    Case { name, text: text.into(), wanted }
}

fn sizes(read: &VoteFile) -> (usize, u64, String) {
    let votes = read.table.counts().map_or(0, |counts| counts.total());
    let items = (0..read.table.len())
        .filter(|&item| read.table.counts().is_none_or(|c| c.votes(item) > 0))
        .count();
    (items, votes, read.table.classes().names().join(" "))
}

fn check(case: &Case) -> Option<String> {
    let result = read_bytes("x", case.text.clone().into(), &ReadOptions::default());
    match (&case.wanted, result) {
        (Read(items, votes, classes), Ok(read)) => {
            let found = sizes(&read);
            (found != (*items, *votes, (*classes).to_owned())).then(|| format!("read as {found:?}"))
        }
        (Ways(number, wanted), Err(error)) => {
            let ways = error.advice.as_ref().map_or(&[][..], |advice| &advice.ways);
            if ways.len() != *number {
                let ways: Vec<_> = ways.iter().map(|way| &way.options).collect();
                return Some(format!("{error}: ways {ways:?}"));
            }
            ways.iter().find_map(|way| {
                let options: ReadOptions =
                    serde_json::from_value(way.options.clone().into()).unwrap();
                let found = sizes(&read_bytes("x", case.text.clone().into(), &options).unwrap());
                let right = wanted.iter().any(|w| found == (w.0, w.1, w.2.to_owned()));
                (!right).then(|| format!("{:?} gives {found:?}", way.options))
            })
        }
        (Refused(reason), Err(error)) => {
            let ways = error.advice.as_ref().map_or(0, |advice| advice.ways.len());
            let text = error.to_string();
            (ways > 0 || !text.contains(reason)).then(|| format!("{text} ({ways} ways)"))
        }
        (_, Ok(read)) => Some(format!("read as {:?}, {:?}", sizes(&read), read.notes)),
        (_, Err(error)) => Some(format!("refused: {error}")),
    }
}

fn check_all(cases: &[Case]) {
    let wrong: Vec<String> =
        cases.iter().filter_map(|c| Some(format!("{}: {}", c.name, check(c)?))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const MOODS: [&str; 3] = ["calm", "loud", "odd"];

/// The label that a person gives an item: they agree more often than not.
fn mood(item: usize, who: usize) -> &'static str {
    let own = (item * 7 + who * 5).is_multiple_of(4);
    MOODS[if own { (item + who) % 3 } else { item % 3 }]
}

/// Rows of `items` items by three of five people; a row is made of the item, the person and the label.
fn rows(items: usize, row: impl Fn(usize, usize, &str) -> String) -> String {
    let people = |i: usize| (0..3).map(move |k| (i, (i + k) % 5));
    (0..items).flat_map(people).map(|(i, who)| row(i, who, mood(i, who)) + "\n").collect()
}

/// A row of `items` items with the labels of three people.
fn wide(items: usize, row: impl Fn(usize, [&str; 3]) -> String) -> String {
    (0..items).map(|i| row(i, [mood(i, 0), mood(i, 1), mood(i, 2)]) + "\n").collect()
}

/// Numbers of votes of `items` items for three classes, which sum to five.
fn counts(items: usize, row: impl Fn(usize, [usize; 3]) -> String) -> String {
    (0..items)
        .map(|i| row(i, [i % 4, (5 - i % 4) / 2, 5 - i % 4 - (5 - i % 4) / 2]) + "\n")
        .collect()
}

const ALL: &str = "calm loud odd";

#[test]
fn rows_that_are_more_than_a_vote() {
    let split = |part: &str| rows(6, |i, who, label| format!("{i},{part}{who},{label},{part}"));
    let text =
        |i: usize, part: &str| format!("The {part} story about number {i} and what became of it");
    let with_text = |part: &str| {
        rows(6, |i, who, label| format!("{i},{part}{who},{label},{part},{}", text(i, part)))
    };
    let questions = |q: &str| rows(8, |i, who, label| format!("{i},w{who},{q},{label}"));
    let systems = |s: &str| rows(8, |i, who, label| format!("d{i},w{who},{s},{label}"));
    let state = |name: &str, good: &str, bad: &str| {
        let value = |i: usize| if i % 4 == 3 { bad } else { good }.to_owned();
        format!("item,rater,label,{name}\n")
            + &rows(12, |i, who, label| format!("{i},w{who},{label},{}", value(i)))
    };
    // Of 12 items, three have no vote that counts.
    let kept: &[(usize, u64, &str)] = &[(9, 27, ALL)];
    check_all(&[
        case(
            "ids begin anew in each split",
            format!("item,rater,label,split\n{}{}", split("train"), split("test")),
            Refused("\"split\" differs within items"),
        ),
        case(
            "the same, which the texts prove",
            format!("item,rater,label,split,text\n{}{}", with_text("first"), with_text("second")),
            Ways(1, &[(12, 36, ALL)]),
        ),
        case(
            "a few of them",
            "id,who,label,lang\n1,a,x,en\n1,b,y,en\n1,c,x,de\n1,d,y,de\n2,a,y,en\n2,c,x,de\n"
                .replace("who", "worker"),
            Refused("\"lang\" differs within items"),
        ),
        case(
            "questions in a column",
            format!("item,worker,aspect,rating\n{}{}", questions("tone"), questions("style")),
            Ways(2, &[(8, 24, ALL)]),
        ),
        case(
            "systems in a column",
            format!("doc_id,worker,system,label\n{}{}", systems("s1"), systems("s2")),
            Ways(1, &[(16, 48, ALL)]),
        ),
        case(
            "two rounds",
            format!("item,worker,round,label\n{}{}", questions("1"), questions("2")),
            Refused("vote several times"),
        ),
        case("accepted rows", state("status", "accepted", "rejected"), Ways(1, kept)),
        case("rows that are no spam", state("is_spam", "False", "True"), Ways(1, kept)),
        case("rows that were deleted", state("deleted_at", "", "2024-01-02"), Ways(1, kept)),
        case(
            "a state that says nothing",
            state("status", "blue", "green"),
            Refused("may not be votes that count"),
        ),
        case(
            "a few rows with a state",
            "item,annotator,label,status\na,p,x,ok\na,q,y,weird\nb,p,x,ok\n",
            Refused("may not be votes that count"),
        ),
        case(
            "a label before and after a review",
            String::from("item,worker,label,final_label\n")
                + &rows(12, |i, who, label| format!("{i},w{who},{label},{}", mood(i, who + 1))),
            Refused("before and after"),
        ),
        case(
            "the reference as an annotator",
            String::from("item,worker,label\n")
                + &rows(12, |i, who, label| {
                    format!(
                        "{i},{},{label}",
                        if who == 0 { "gold".to_owned() } else { format!("w{who}") }
                    )
                }),
            Ways(1, &[(12, 29, ALL)]),
        ),
        case(
            "a model as an annotator",
            String::from("item,worker,label\n")
                + &rows(12, |i, who, label| {
                    format!(
                        "{i},{},{label}",
                        if who == 0 { "gpt-4".to_owned() } else { format!("w{who}") }
                    )
                }),
            Refused("a model among people"),
        ),
        case(
            "rows of models",
            String::from("item,model,label\n")
                + &rows(12, |i, who, label| format!("{i},m{who},{label}")),
            Refused("\"model\" differs"),
        ),
        case(
            "all rows twice",
            format!(
                "item,worker,label\n{0}{0}",
                rows(12, |i, who, label| format!("{i},w{who},{label}"))
            ),
            Refused("repeated by the same annotator"),
        ),
    ]);
}

#[test]
fn labels_that_are_none() {
    let with = |odd: &str| {
        String::from("item,worker,label\n")
            + &rows(12, |i, who, label| {
                format!("{i},w{who},{}", if (i + who) % 9 == 0 { odd } else { label })
            })
    };
    let grades = |odd: &str| {
        String::from("item,worker,label\n")
            + &rows(12, |i, who, _| match (i + who) % 9 {
                0 => format!("{i},w{who},{odd}"),
                n => format!("{i},w{who},{}", 1 + (n * 3 + i) % 4),
            })
    };
    let regions = String::from("item,worker,label\n")
        + &rows(12, |i, who, _| format!("{i},w{who},{}", ["EU", "NA", "SA"][(i + who / 2) % 3]));
    let lists = String::from("item,worker,label\n")
        + &rows(12, |i, who, label| match (i + who) % 4 {
            0 => format!("{i},w{who},\"['calm', 'loud']\""),
            _ => format!("{i},w{who},['{label}']"),
        });
    let cases = String::from("item,worker,label\n")
        + &rows(12, |i, who, label| {
            format!("{i},w{who},{}", if who == 0 { label.to_uppercase() } else { label.to_owned() })
        });
    let none = |values: [i32; 3]| {
        let rows = (0..12).map(|i| {
            let at = |k: usize| values[(i * 5 + k * k) % 3];
            format!(
                "{i},{},{},{}\n",
                at(0),
                if i == 0 { at(0) } else { at(1) },
                if i == 0 { at(0) } else { at(2) }
            )
        });
        String::from("id,rater_1,rater_2,rater_3\n") + &rows.collect::<String>()
    };
    check_all(&[
        case("a dash among words", with("-"), Refused("\"-\" may be a class")),
        case("a word for no answer", with("skipped"), Refused("\"skipped\" may be a class")),
        case("a code among grades", grades("99"), Refused("\"99\" may be a class")),
        case("-1 among grades", grades("-1"), Refused("\"-1\" may be a class")),
        case(
            "-1 beside 0 and 1, one column per rater",
            none([-1, 0, 1]),
            Refused("-1 may be a class beside 0 and 1"),
        ),
        case("-1 and 1", none([-1, 1, 1]), Read(12, 36, "-1 1")),
        case("regions", regions, Refused("\"NA\" may be a class")),
        case("lists in cells", lists, Refused("several labels in one vote")),
        case("upper and lower case", cases, Refused("upper and lower case")),
    ]);
}

#[test]
fn numbers_of_votes() {
    let header = |more: &str| format!("post_id,calm,loud,odd{more}\n");
    let plain = |row: fn(usize, [usize; 3]) -> String| counts(12, row);
    let margins: [usize; 3] = (0..12)
        .map(|i| [i % 4, (5 - i % 4) / 2, 5 - i % 4 - (5 - i % 4) / 2])
        .fold([0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
    let [a, b, c] = margins;
    let cell = |i: usize, n: [usize; 3]| {
        format!("{i},\"Counter({{'calm': {}, 'loud': {}, 'odd': {}}})\"", n[0], n[1], n[2])
    };
    let json: Vec<String> = (0..12)
        .map(|i| {
            let n = [i % 4, (5 - i % 4) / 2, 5 - i % 4 - (5 - i % 4) / 2];
            format!("\"t{i}\": {{\"calm\": {}, \"loud\": {}, \"odd\": {}}}", n[0], n[1], n[2])
        })
        .collect();
    let games: String = (0..12).fold("id,wins,losses\n".to_owned(), |mut all, i| {
        let _ = writeln!(all, "t{i},{},{}", i % 9, 8 - i % 9);
        all
    });
    let right: (usize, u64, &str) = (12, 60, ALL);
    let value_counts = |label: &str, count: &str| {
        let rows = (0..12).flat_map(|i| {
            let n = [1 + i % 3, 5 - i % 3 - 1];
            [(i, MOODS[i % 3], n[0]), (i, MOODS[(i + 1) % 3], n[1])]
        });
        format!("post_id,{label},{count}\n")
            + &rows.map(|(i, l, n)| format!("{i},{l},{n}\n")).collect::<String>()
    };
    check_all(&[
        case(
            "same sums",
            header("") + &plain(|i, n| format!("{i},{},{},{}", n[0], n[1], n[2])),
            Read(12, 60, ALL),
        ),
        case(
            "margins of a crosstab",
            header(",All")
                + &plain(|i, n| format!("{i},{},{},{},5", n[0], n[1], n[2]))
                + &format!("All,{a},{b},{c},60\n"),
            Read(12, 60, ALL),
        ),
        case(
            "a row of sums",
            header("")
                + &plain(|i, n| format!("{i},{},{},{}", n[0], n[1], n[2]))
                + &format!("Total,{a},{b},{c}\n"),
            Read(12, 60, ALL),
        ),
        case(
            "an index before the ids",
            format!(",{}", header(""))
                + &plain(|i, n| format!("{i},p{i},{},{},{}", n[0], n[1], n[2])),
            Read(12, 60, ALL),
        ),
        case(
            "likes beside",
            header(",likes")
                + &plain(|i, n| format!("{i},{},{},{},{}", n[0], n[1], n[2], i * i % 7)),
            Read(12, 60, ALL),
        ),
        case(
            "a majority and an agreement beside",
            header(",majority,agreement")
                + &plain(|i, n| format!("{i},{},{},{},calm,0.{}", n[0], n[1], n[2], 4 + n[0])),
            Read(12, 60, ALL),
        ),
        case(
            "shares beside",
            String::from("post_id,n_calm,n_loud,n_odd,p_calm,p_loud,p_odd\n")
                + &plain(|i, n| {
                    format!(
                        "{i},{},{},{},{},{},{}",
                        n[0],
                        n[1],
                        n[2],
                        n[0] as f64 / 5.0,
                        n[1] as f64 / 5.0,
                        n[2] as f64 / 5.0
                    )
                }),
            Read(12, 60, ALL),
        ),
        case(
            "counters in cells",
            String::from("id,votes\n") + &counts(12, cell),
            Read(right.0, right.1, right.2),
        ),
        case(
            "counters in JSON",
            format!("{{{}}}", json.join(", ")),
            Read(right.0, right.1, right.2),
        ),
        case(
            "a year beside",
            header(",year")
                + &plain(|i, n| format!("{i},{},{},{},{}", n[0], n[1], n[2], 2015 + i * i % 7)),
            Read(12, 60, ALL),
        ),
        case(
            "one year beside",
            header(",year") + &plain(|i, n| format!("{i},{},{},{},2018", n[0], n[1], n[2])),
            Refused("whole numbers up to 2018"),
        ),
        case("results of games", games, Refused("results of games")),
        case(
            "value_counts under an unknown name",
            value_counts("tone", "size"),
            Ways(1, &[(12, 60, ALL)]),
        ),
        case("a score that may be one", value_counts("label", "score"), Refused("")),
        case(
            "a weight that may be a number",
            value_counts("label", "weight"),
            Refused("weights, or numbers of votes"),
        ),
    ]);
}

#[test]
fn one_row_per_item() {
    let grade = |i: usize, who: usize| 1 + (i * 3 + who * who) % 5;
    let grades: String = (0..12)
        .map(|i| {
            let g: Vec<usize> = (0..4).map(|who| grade(i, who)).collect();
            let mean = g.iter().sum::<usize>() as f64 / 4.0;
            format!("s{i},{},{},{},{},{mean}\n", g[0], g[1], g[2], g[3])
        })
        .collect();
    let majority = |l: [&str; 3]| if l[1] == l[2] { l[1].to_owned() } else { l[0].to_owned() };
    let people = |names: &str, more: bool| {
        format!("id,{names}\n")
            + &wide(12, |i, l| match more {
                true => format!("s{i},{},{},{},{}", l[0], l[1], l[2], majority(l)),
                false => format!("s{i},{},{},{}", l[0], l[1], l[2]),
            })
    };
    let cells = |name: &str, cell: fn([&str; 3]) -> String| {
        format!("id,{name}\n") + &wide(12, |i, l| format!("s{i},{}", cell(l)))
    };
    let right: &[(usize, u64, &str)] = &[(12, 36, ALL)];
    check_all(&[
        case(
            "letters beside a mean",
            format!("id,A,B,C,D,mean\n{grades}"),
            Ways(1, &[(12, 48, "1 2 3 4 5")]),
        ),
        case("names of people", people("Anna,Ben,Carla", false), Ways(1, right)),
        case("unknown names beside the majority", people("kx,ly,mz,result", true), Ways(1, right)),
        case("unknown names alone", people("kx,ly,mz", false), Refused("")),
        case("bars in cells", cells("annotations", |l| l.join("|")), Read(12, 36, ALL)),
        case("bars in cells of labels", cells("labels", |l| l.join("|")), Ways(1, right)),
        case(
            "what numpy prints",
            cells("ratings", |l| format!("['{}' '{}' '{}']", l[0], l[1], l[2])),
            Read(12, 36, ALL),
        ),
        case(
            "labels by person",
            cells("labels", |l| {
                format!("\"{{'w1': '{}', 'w2': '{}', 'w3': '{}'}}\"", l[0], l[1], l[2])
            }),
            Read(12, 36, ALL),
        ),
        case(
            "pairs of people and labels",
            cells("judgments", |l| {
                format!("\"[('w1', '{}'), ('w2', '{}'), ('w3', '{}')]\"", l[0], l[1], l[2])
            }),
            Read(12, 36, ALL),
        ),
        case(
            "labels and people in two lists",
            String::from("id,labels,workers\n")
                + &wide(12, |i, l| {
                    format!("s{i},\"['{}', '{}', '{}']\",\"['w1', 'w2', 'w3']\"", l[0], l[1], l[2])
                }),
            Read(12, 36, ALL),
        ),
        case(
            "labels and aspects in two lists",
            String::from("id,labels,aspects\n")
                + &wide(12, |i, l| {
                    format!(
                        "s{i},\"['{}', '{}', '{}']\",\"['food', 'staff', 'price']\"",
                        l[0], l[1], l[2]
                    )
                }),
            Refused(""),
        ),
    ]);
}

#[test]
fn before_a_header() {
    let rows = rows(12, |i, who, label| format!("{i};w{who};{label}"));
    let right = || Read(12, 36, ALL);
    check_all(&[
        case("the delimiter", format!("sep=;\nitem;worker;label\n{rows}"), right()),
        case("comments", format!("# a tool\n# a day\nitem;worker;label\n{rows}"), right()),
        case("a title", format!("Results;;\n;;\nitem;worker;label\n{rows}"), right()),
        case(
            "empty columns behind",
            format!("item;worker;label;;\n{}", rows.replace('\n', ";;\n")),
            right(),
        ),
        case(
            "single quotes",
            "'item','worker','label'\n'a','w','x'\n'a','v','y'\n",
            Refused("single quotes"),
        ),
    ]);
}

#[test]
fn documents() {
    let vote = |i: usize, who: usize, more: &str| {
        format!(r#"{{"annotator": "w{who}", "label": "{}"{more}}}"#, mood(i, who))
    };
    let items = |votes: &dyn Fn(usize) -> String| -> String {
        let all: Vec<String> =
            (0..8).map(|i| format!(r#"{{"id": {i}, "annotations": [{}]}}"#, votes(i))).collect();
        format!("[{}]", all.join(", "))
    };
    let three = |i: usize, more: [&str; 3]| {
        (0..3).map(|who| vote(i, who, more[who])).collect::<Vec<_>>().join(", ")
    };
    let deleted = items(&|i| {
        three(
            i,
            [r#", "is_deleted": false"#, r#", "is_deleted": false"#, r#", "is_deleted": true"#],
        )
    });
    let unknown = items(&|i| {
        three(i, [r#", "status": "blue""#, r#", "status": "red""#, r#", "status": "blue""#])
    });
    let spans = items(&|i| three(i, [r#", "start": 0, "end": 4"#; 3]));
    let by_person: Vec<String> = (0..5)
        .map(|who| {
            let own = (0..8).filter(|i| (0..3).any(|k| (i + k) % 5 == who));
            let answers: Vec<String> = own
                .map(|i| format!(r#"{{"item_id": {i}, "answer": "{}"}}"#, mood(i, who)))
                .collect();
            format!(r#"{{"user_id": "u{who}", "responses": [{}]}}"#, answers.join(", "))
        })
        .collect();
    let workers_first: Vec<String> = (0..10)
        .map(|who| {
            let own: Vec<String> =
                (0..4).map(|i| format!(r#""item_{i}": "{}""#, mood(i, who))).collect();
            format!(r#""k{who}x": {{{}}}"#, own.join(", "))
        })
        .collect();
    let split: Vec<String> = (0..8)
        .flat_map(|i| (0..3).map(move |who| format!(r#"[{i}, "w{who}", "{}"]"#, mood(i, who))))
        .collect();
    check_all(&[
        case("votes that were deleted", deleted, Read(8, 16, ALL)),
        case("states that say nothing", unknown, Refused("may not count")),
        case("spans", spans, Refused("mark spans")),
        case("people with their items", format!("[{}]", by_person.join(", ")), Read(8, 24, ALL)),
        case(
            "more workers than items",
            format!("{{{}}}", workers_first.join(", ")),
            Read(4, 40, ALL),
        ),
        case(
            "pandas, orient=split",
            format!(
                r#"{{"columns": ["item", "worker", "label"], "index": [0], "data": [{}]}}"#,
                split.join(", ")
            ),
            Read(8, 24, ALL),
        ),
    ]);
}
