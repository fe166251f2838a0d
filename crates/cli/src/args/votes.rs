//! Options of reading vote files, shared by all commands that read them.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use dissensus::core::Keep;
use dissensus::io::ReadOption;
use dissensus::votes::formats::FORMATS;
use dissensus::votes::options::{Given, OPTIONS, OptionEntry, Takes};
use dissensus::votes::{ReadError, ReadOptions, VoteFile, read_with_progress};

use crate::ui::{self, text};

/// A vote file as the first argument, and how to read it.
#[derive(clap::Args)]
pub(crate) struct VoteFileArgs {
    /// The vote file; `-` is standard input; .gz and .zst are unpacked
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) reading: VoteArgs,
}

/// How to read a vote file: the options of the library's list.
pub(crate) struct VoteArgs(ReadOptions);

const READING: &str = "Reading votes";

impl clap::Args for VoteArgs {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().fold(command, |command, entry| command.args(arguments(entry)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The argument of an option; of yes or no there are two.
fn arguments(entry: &'static OptionEntry) -> Vec<Arg> {
    let name = entry.option.name();
    let new = |id: &'static str, help: &'static str| {
        Arg::new(id).long(id.replace('_', "-")).help(help).help_heading(READING)
    };
    let arg = new(name, entry.help);
    let arg = match entry.takes {
        Takes::Flag => {
            let no = new("no_header", "The table has no header row");
            let arg = arg.conflicts_with("no_header");
            return [arg, no].map(|arg| arg.action(ArgAction::SetTrue)).into();
        }
        Takes::List => arg.action(ArgAction::Append).value_delimiter(','),
        _ if entry.option == ReadOption::Format => {
            let names = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name));
            arg.value_parser(names).hide_possible_values(true)
        }
        _ => arg.value_parser(move |text: &str| {
            let given = Given::Text(text.to_owned());
            ReadOptions::default().set(entry.option, given).map(|()| text.to_owned())
        }),
    };
    let arg = arg.value_name(entry.value);
    vec![match entry.option {
        ReadOption::Label => arg.visible_alias("question"),
        ReadOption::Missing => arg.allow_hyphen_values(true),
        _ => arg,
    }]
}

impl FromArgMatches for VoteArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = ReadOptions::default();
        for OptionEntry { option, takes, .. } in OPTIONS {
            let name = option.name();
            let given = match takes {
                Takes::Flag if matches.get_flag("no_header") => Some(Given::Flag(false)),
                Takes::Flag => matches.get_flag(name).then_some(Given::Flag(true)),
                Takes::List => {
                    matches.get_many(name).map(|list| Given::List(list.cloned().collect()))
                }
                _ => matches.get_one(name).cloned().map(Given::Text),
            };
            let wrong = |words| clap::Error::raw(clap::error::ErrorKind::ValueValidation, words);
            given.map_or(Ok(()), |given| options.set(*option, given)).map_err(wrong)?;
        }
        Ok(Self(options))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl VoteArgs {
    /// The options that are given.
    pub(crate) fn given(&self) -> &ReadOptions {
        &self.0
    }

    pub(crate) fn options(&self, keep: Keep) -> ReadOptions {
        ReadOptions { keep, texts: self.0.text.is_some(), ..self.0.clone() }
    }

    /// Reads a vote file, and says in one line what was guessed.
    pub(crate) fn read(&self, path: &Path, keep: Keep) -> anyhow::Result<VoteFile> {
        self.read_with_texts(path, keep, self.0.text.is_some())
    }

    /// The same, with the texts of a table that has a column of them.
    pub(crate) fn read_with_texts(
        &self,
        path: &Path,
        keep: Keep,
        texts: bool,
    ) -> anyhow::Result<VoteFile> {
        let read = read_votes(path, &ReadOptions { texts, ..self.options(keep) })?;
        if let Some(line) = read.guessed() {
            ui::remark(&text::one_line(&line, 200));
        }
        Ok(read)
    }
}

/// Reads a vote file, with a progress bar if it is large.
pub(crate) fn read_votes(path: &Path, options: &ReadOptions) -> Result<VoteFile, ReadError> {
    read_with_progress(path, options, super::context().progress)
}
