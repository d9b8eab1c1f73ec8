//! The thread of a document.
//!
//! In: edits and questions, in the order in which they came. Out: answers, and the findings
//! about the last text. Each edit has a flag of its own, which the next edit raises, so that
//! nobody waits for the check of a large text that is not there any more.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};
use lsp_server::{Message, RequestId, Response};
use lsp_types::{PublishDiagnosticsParams, TextDocumentContentChangeEvent};

use super::Settings;
use super::document::Document;
use super::error::RequestError;
use ggp_stop::Stop;

/// The stack of a thread in bytes. Lists may be nested deeply.
const STACK: usize = 8 << 20;

/// A text of at most this size in bytes is checked to the end, which takes less than a tenth
/// of a second.
const SMALL: usize = 1 << 16;

/// The function that answers a request; `None` if another thread will do so.
pub(super) type Question =
    Box<dyn FnOnce(&Document) -> Result<Option<serde_json::Value>, RequestError> + Send>;

/// A result of another thread, on its way to the client.
pub(super) enum Outcome {
    /// An answer or a message.
    Message(Message),
    /// The findings of the document with this number.
    Findings(u64, PublishDiagnosticsParams),
    /// The panic of a thread, which ends the server.
    Panic(Box<dyn Any + Send>),
}

/// A task for the thread of a document.
enum Task {
    /// Changes of the text, its new version, and the flag that ends work on it.
    Edit(Vec<TextDocumentContentChangeEvent>, i32, Stop),
    /// A request.
    Ask(RequestId, Question),
}

/// An open document, as the main thread sees it.
pub(super) struct Desk {
    number: u64,
    /// `None` after the last task.
    tasks: Option<Sender<Task>>,
    /// Ends the work on the last text.
    stop: Stop,
}

impl Desk {
    /// Starts the thread of a document. The number tells documents with the same URI apart.
    ///
    /// # Errors
    ///
    /// If the system gives no thread.
    pub fn open(
        number: u64,
        document: Document,
        settings: Settings,
        results: Sender<Outcome>,
    ) -> io::Result<Desk> {
        let (sender, tasks) = unbounded();
        let stop = Stop::new();
        let panicked = results.clone();
        let mut worker = Worker {
            number,
            document,
            settings,
            results,
            stop: stop.clone(),
        };
        thread::Builder::new().stack_size(STACK).spawn(move || {
            // The worker is not used after a panic.
            let work = AssertUnwindSafe(|| worker.work(&tasks));
            if let Err(panic) = catch_unwind(work) {
                let _ = panicked.send(Outcome::Panic(panic));
            }
        })?;
        Ok(Desk {
            number,
            tasks: Some(sender),
            stop,
        })
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// Changes the text, and ends the work on the one before.
    pub fn edit(&mut self, changes: Vec<TextDocumentContentChangeEvent>, version: i32) {
        self.stop.raise();
        self.stop = Stop::new();
        self.send(Task::Edit(changes, version, self.stop.clone()));
    }

    /// Has a request answered, after all tasks before it.
    pub fn ask(&self, id: RequestId, question: Question) {
        self.send(Task::Ask(id, question));
    }

    fn send(&self, task: Task) {
        if let Some(tasks) = &self.tasks {
            // A thread that ended before its last task has sent its panic.
            let _ = tasks.send(task);
        }
    }

    /// Lets the thread end after the tasks that it has. The result ends it at once.
    pub fn last_task(&mut self) -> Stop {
        self.tasks = None;
        self.stop.clone()
    }

    /// Ends the work on the document.
    pub fn close(self) {
        self.stop.raise();
    }
}

/// The state of a document's thread.
struct Worker {
    number: u64,
    document: Document,
    settings: Settings,
    results: Sender<Outcome>,
    /// The flag of the current text.
    stop: Stop,
}

impl Worker {
    fn work(&mut self, tasks: &Receiver<Task>) {
        loop {
            // Of several texts in the queue, only the last one is checked.
            if tasks.is_empty() {
                self.publish();
            }
            match tasks.recv() {
                Ok(Task::Edit(changes, version, stop)) => {
                    // Completion uses the last correct text.
                    if self.is_small() && self.document.rules.last_game().is_none() {
                        self.document.rules.check(&self.settings.read, &self.stop());
                    }
                    for change in changes {
                        self.document.change(change.range, &change.text);
                    }
                    self.document.version = version;
                    self.stop = stop;
                }
                Ok(Task::Ask(id, question)) => self.answer(id, question),
                Err(_) => return,
            }
        }
    }

    fn is_small(&self) -> bool {
        self.document.rules.text().len() <= SMALL
    }

    /// The flag that ends the check of the current text.
    fn stop(&self) -> Stop {
        match self.is_small() {
            true => Stop::new(),
            false => self.stop.clone(),
        }
    }

    fn publish(&mut self) {
        if !self.document.is_changed() {
            return;
        }
        let stop = self.stop();
        if let Some(diagnostics) = self.document.findings(&self.settings.read, &stop) {
            let findings = PublishDiagnosticsParams {
                uri: self.document.uri.clone(),
                diagnostics,
                version: Some(self.document.version),
            };
            self.send(Outcome::Findings(self.number, findings));
        }
    }

    /// Answers a request about the current text, or says that the text has changed if an edit
    /// comes before it is checked.
    fn answer(&mut self, id: RequestId, question: Question) {
        let stop = self.stop();
        let is_checked = self.document.rules.check(&self.settings.read, &stop);
        let answer = match is_checked {
            true => question(&self.document),
            false => Err(RequestError::Changed),
        };
        match answer {
            Ok(Some(value)) => self.send(Outcome::Message(Response::new_ok(id, value).into())),
            Ok(None) => {}
            Err(error) => self.send(Outcome::Message(error.answer(id).into())),
        }
    }

    fn send(&self, outcome: Outcome) {
        // After the end of the session, nobody needs a result.
        let _ = self.results.send(outcome);
    }
}
