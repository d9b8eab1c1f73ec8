//! Options of `--method breadth-first-packed`.

use ggp_gdl::counted::counted;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::report::ran_out;
use super::seconds;
use crate::Context;
use crate::numbers::thousands;
use crate::processes::Sharing;
use ggp_search::{Stats, Verdict};
use ggp_solver::planning::breadth_first::{BreadthFirstOptions, Classes, Spill, manifest};
use ggp_solver::planning::checkpoint::{Checkpoint, is_checkpoint};
use ggp_solver::solve::{Answer, Setting, SolveOptions};

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Symmetry {
    /// Symmetric positions count as one: fewer are searched, and counts are of classes
    On,
    /// Every position counts
    Off,
}

/// Options of breadth-first search on packed states.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "With --method breadth-first-packed")]
pub(super) struct Flags {
    /// Search every position that can be reached, even after a plan is found
    #[arg(long)]
    whole: bool,
    /// Whether positions that are equal up to a symmetry of the rules count as one [default: off
    /// with --whole, otherwise on as soon as there are many]
    #[arg(long, value_enum, value_name = "CHOICE")]
    symmetry: Option<Symmetry>,
    /// Write the state of the search to this file at intervals, and when the search is
    /// interrupted or its budget is spent; with --processes or --hosts, to this folder
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Minimum number of seconds between two checkpoints
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "300")]
    #[arg(requires = "checkpoint")]
    checkpoint_every: Duration,
    /// Resume the search from this checkpoint, with a new budget and the same number of processes
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write data that exceeds the memory limit to files in this folder, which are deleted at
    /// the end, unless a checkpoint names them
    #[arg(long, value_name = "FOLDER")]
    spill: Option<PathBuf>,
    /// Maximum size of the files of --spill, in MB
    #[arg(long, value_name = "MB", default_value_t = 16_384, requires = "spill")]
    budget_disk: u64,
}

impl Flags {
    /// Adds these options to those of a search.
    pub fn apply(
        &self,
        is_alone: bool,
        processes: &Sharing,
        how: &mut SolveOptions,
    ) -> anyhow::Result<()> {
        let are_several = processes.are_several();
        let is_asked = self.whole
            || self.symmetry.is_some()
            || self.spill.is_some()
            || self.checkpoint.is_some()
            || self.resume.is_some()
            || are_several;
        if is_asked && !how.method.reads(Setting::Packed) {
            bail!(
                "--whole, --symmetry, --checkpoint, --resume, --spill, --processes and --hosts \
                 need --method breadth-first-packed"
            );
        }
        if !is_alone && (self.checkpoint.is_some() || self.resume.is_some() || are_several) {
            bail!(
                "--checkpoint, --resume, --processes and --hosts are for a single search, so they \
                 cannot be used with --each and --suite"
            );
        }
        if are_several {
            if let Some(path) = self.checkpoint.as_ref().filter(|path| path.is_file()) {
                bail!(
                    "--checkpoint needs a folder with --processes or --hosts, and {} is a file",
                    path.display()
                );
            }
        } else if let Some(folder) = self.resume.as_ref().filter(|path| path.is_dir()) {
            bail!(
                "{} is a folder, the checkpoint of several processes; resume it with --processes",
                folder.display()
            );
        } else if let Some(file) = &self.checkpoint {
            if file.exists() && !file.is_file() {
                bail!(
                    "{} is not a regular file, so it cannot be a checkpoint",
                    file.display()
                );
            }
            refuse_to_replace(file, self.resume.as_deref())?;
            Context::can_write(file)?;
        }
        if let Some(folder) = self.spill.as_ref().filter(|folder| folder.is_file()) {
            bail!("--spill needs a folder, and {} is a file", folder.display());
        }
        how.packed = BreadthFirstOptions {
            whole: self.whole,
            classes: match self.symmetry {
                Some(Symmetry::On) => Classes::Always,
                None if !self.whole => Classes::IfMany,
                _ => Classes::Never,
            },
            spill: self.spill.as_ref().map(|folder| Spill {
                folder: folder.clone(),
                most_bytes: self.budget_disk.saturating_mul(1 << 20),
            }),
            checkpoint: self.checkpoint.as_ref().map(|file| Checkpoint {
                file: file.clone(),
                every: self.checkpoint_every,
            }),
            resume: self.resume.clone(),
            processes: None,
            ..how.packed.clone()
        };
        if let Some(member) = processes.member()? {
            how.packed.processes = Some(member.processes());
            if let Some(spill) = &mut how.packed.spill {
                spill.most_bytes = member.part(spill.most_bytes);
            }
            how.budget = member.share(&how.budget);
        }
        Ok(())
    }

    /// Checks the folders of checkpoints of several processes, and makes the one to write to;
    /// `is_first` is true where the first process is.
    ///
    /// # Errors
    ///
    /// If one is missing, is not a folder or would be lost.
    pub fn prepare(&self, is_first: bool) -> anyhow::Result<()> {
        if let Some(folder) = &self.resume {
            let name = folder.display();
            if folder.is_file() {
                bail!(
                    "{name} is a file, the checkpoint of one process; resume it without --processes"
                );
            }
            if is_first && !manifest(folder).exists() {
                bail!("{name} has no checkpoint of several processes");
            }
        }
        let Some(folder) = &self.checkpoint else {
            return Ok(());
        };
        let name = folder.display();
        if manifest(folder).exists() {
            refuse_to_replace(folder, self.resume.as_deref())?;
        }
        std::fs::create_dir_all(folder).with_context(|| format!("cannot write {name}"))
    }

    /// The folder for levels in files.
    pub fn spill(&self) -> Option<&Path> {
        self.spill.as_deref()
    }

    /// The file or folder of checkpoints.
    pub fn checkpoint(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }

    /// Prints whether all positions were seen, how fast, and how to resume the search.
    pub fn note(&self, answer: &Answer, stats: &Stats, is_shared: bool, context: &Context) {
        match answer.seen {
            Some(seen) if seen.is_all => {
                let without = if seen.is_partial {
                    ", without counters and facts that decide nothing"
                } else {
                    ""
                };
                let text = match seen.symmetries {
                    1 if seen.positions == 1 => "the only position was seen".to_owned(),
                    1 => format!("all {} positions were seen", seen.positions),
                    count => format!(
                        "all positions were seen: {} up to {count} symmetries",
                        seen.positions
                    ),
                };
                context.note(text + without);
            }
            Some(_) if self.whole => context.note(match stats.ran_out {
                Some(what) => format!("not all positions were seen: {}", ran_out(what)),
                None => "not all positions were seen: longer plans were not searched".to_owned(),
            }),
            _ => {}
        }
        if let Some(seen) = answer.seen.filter(|_| self.whole) {
            // That of earlier runs is counted in the levels.
            let seconds: f64 = stats
                .levels
                .iter()
                .map(|level| level.elapsed.as_secs_f64())
                .sum();
            let rate = thousands((seen.positions as f64 / seconds.max(1e-6)) as u64);
            let bytes = match is_shared {
                true => String::new(),
                false => format!(
                    ", {} of memory for each",
                    counted(stats.peak_bytes / seen.positions.max(1), "byte")
                ),
            };
            context.note(format_args!(
                "{} a second{bytes}",
                counted(rate, "position")
            ));
        }
        let file = self.checkpoint.as_ref().filter(|file| file.exists());
        if let (Verdict::OutOfBudget { .. }, Some(file)) = (&answer.verdict, file) {
            let file = file.display();
            context.note(format_args!("note: resume the search with --resume {file}"));
        }
    }
}

/// Refuses to write over a checkpoint of another search.
fn refuse_to_replace(checkpoint: &Path, resume: Option<&Path>) -> anyhow::Result<()> {
    let is_there = checkpoint.metadata().is_ok_and(|known| known.len() > 0);
    if is_there && resume != Some(checkpoint) {
        let name = checkpoint.display();
        // That of several processes is a folder.
        if checkpoint.is_file() && !is_checkpoint(checkpoint) {
            bail!("{name} is there, and is not a checkpoint: give the checkpoint another name");
        }
        bail!("{name} has a checkpoint: add --resume {name} to go on from it, or delete it");
    }
    Ok(())
}
