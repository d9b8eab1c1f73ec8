//! A language server for rule files in editors.
//!
//! In: messages of the Language Server Protocol 3.17. Out: answers. One thread reads and
//! answers. A command of a lens runs on a thread of its own with a time limit, so that
//! typing is never blocked. Positions are counted in UTF-16 code units, the default of the
//! protocol, unless both sides agree otherwise.

mod complete;
mod desk;
mod document;
mod error;
mod fixes;
mod hover;
mod lens;
mod rule_files;
mod slots;
mod text;
mod wire;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProviderCapability,
    CodeLensOptions, CompletionOptions, CompletionParams, Diagnostic, DiagnosticRelatedInformation,
    DiagnosticSeverity, DocumentFormattingParams, DocumentSymbolParams, DocumentSymbolResponse,
    ExecuteCommandOptions, ExecuteCommandParams, GotoDefinitionParams, GotoDefinitionResponse,
    HoverContents, HoverParams, HoverProviderCapability, Location, MarkupContent, MarkupKind,
    NumberOrString, OneOf, PrepareRenameResponse, PublishDiagnosticsParams, ReferenceParams,
    RenameOptions, RenameParams, ServerCapabilities, TextDocumentPositionParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextEdit, Uri, WorkDoneProgressOptions,
    WorkspaceEdit,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use desk::{Desk, Outcome, Question};
use document::Document;
use error::RequestError;
use ggp_gdl::check::ReadOptions;
use ggp_gdl::diagnostic::{self, Severity};
use ggp_stop::Stop;

pub use fixes::Fix;
pub use rule_files::RuleFiles;
pub use wire::{Threads, stdio};

/// Settings of the server.
#[derive(Copy, Clone, Debug)]
pub struct Settings {
    /// Time limit for commands of lenses.
    pub time: Duration,
    /// Options for reading rules.
    pub read: ReadOptions,
}

/// The time that open requests have at the end of the session.
const REST: Duration = Duration::from_millis(500);

/// The end of a session.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// The client sent `shutdown` and `exit`.
    Done,
    /// The client sent `exit` without `shutdown`.
    WithoutShutdown,
    /// The client closed the connection.
    Closed,
}

/// Serves one client until it ends the session. A request that fails gets an error as its
/// answer and ends nothing.
pub fn serve(connection: Connection, settings: &Settings) -> End {
    let (sender, results) = crossbeam_channel::unbounded();
    let mut server = Server {
        connection,
        settings: *settings,
        documents: HashMap::new(),
        opened: 0,
        open_requests: HashSet::new(),
    };
    if let Err(end) = server.initialize() {
        return end;
    }
    loop {
        crossbeam_channel::select! {
            recv(server.connection.receiver) -> message => match message {
                Ok(Message::Request(request)) if request.method == request::Shutdown::METHOD => {
                    server.finish(sender, &results);
                    server.send(Response::new_ok(request.id, ()));
                    return server.last();
                }
                Ok(Message::Request(request)) => server.request(request, &sender),
                Ok(Message::Notification(notice)) if is_exit(&notice) => {
                    server.finish(sender, &results);
                    return End::WithoutShutdown;
                }
                Ok(Message::Notification(notice)) => server.notice(notice, &sender),
                Ok(Message::Response(_)) => {}
                Err(_) => {
                    server.finish(sender, &results);
                    return End::Closed;
                }
            },
            recv(results) -> result => {
                server.pass_on(result.expect("this function has a sender"));
            }
        }
    }
}

fn capabilities() -> ServerCapabilities {
    let no_progress = WorkDoneProgressOptions::default();
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: no_progress,
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec!["(".to_owned(), "?".to_owned()]),
            ..CompletionOptions::default()
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![
                CodeActionKind::QUICKFIX,
                CodeActionKind::REFACTOR_REWRITE,
            ]),
            ..CodeActionOptions::default()
        })),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(false),
        }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: lens::COMMANDS
                .map(|(command, _)| command.to_owned())
                .to_vec(),
            work_done_progress_options: no_progress,
        }),
        ..ServerCapabilities::default()
    }
}

struct Server {
    connection: Connection,
    settings: Settings,
    documents: HashMap<Uri, Desk>,
    /// The number of documents that were opened so far.
    opened: u64,
    /// The requests that have no answer yet.
    open_requests: HashSet<RequestId>,
}

/// Whether a notification ends the session.
fn is_exit(notice: &Notification) -> bool {
    notice.method == notification::Exit::METHOD
}

impl Server {
    /// Waits for the request `initialize` and answers it.
    ///
    /// # Errors
    ///
    /// If the session ends before.
    fn initialize(&self) -> Result<(), End> {
        loop {
            match self.connection.receiver.recv() {
                Ok(Message::Request(request)) if request.method == request::Initialize::METHOD => {
                    let answer = serde_json::json!({
                        "capabilities": capabilities(),
                        "serverInfo": { "name": "ggp", "version": env!("CARGO_PKG_VERSION") },
                    });
                    self.send(Response::new_ok(request.id, answer));
                    return Ok(());
                }
                Ok(Message::Request(request)) => {
                    self.send(RequestError::NotInitialized.answer(request.id));
                }
                Ok(Message::Notification(notice)) if is_exit(&notice) => {
                    return Err(End::WithoutShutdown);
                }
                Ok(_) => {}
                Err(_) => return Err(End::Closed),
            }
        }
    }

    /// Waits for `exit` after `shutdown`.
    fn last(&self) -> End {
        loop {
            match self.connection.receiver.recv() {
                Ok(Message::Request(request)) => {
                    self.send(RequestError::ShutDown.answer(request.id));
                }
                Ok(Message::Notification(notice)) if is_exit(&notice) => return End::Done,
                Ok(_) => {}
                Err(_) => return End::Closed,
            }
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // A client that has disconnected gets no answer.
        let _ = self.connection.sender.send(message.into());
    }

    fn notice(&mut self, notice: Notification, sender: &Sender<Outcome>) {
        fn params<T: DeserializeOwned>(notice: Notification) -> Option<T> {
            serde_json::from_value(notice.params).ok()
        }
        match notice.method.as_str() {
            notification::DidOpenTextDocument::METHOD => {
                if let Some(opened) = params::<lsp_types::DidOpenTextDocumentParams>(notice) {
                    let item = opened.text_document;
                    let document = Document::new(item.uri.clone(), item.version, item.text);
                    self.opened += 1;
                    let number = self.opened;
                    // A document that is opened again ends the work on the first.
                    if let Some(old) = self.documents.remove(&item.uri) {
                        old.close();
                    }
                    match Desk::open(number, document, self.settings, sender.clone()) {
                        Ok(desk) => drop(self.documents.insert(item.uri, desk)),
                        Err(error) => {
                            let uri = item.uri.as_str();
                            let message = format!("cannot start a thread for {uri}: {error}");
                            let typ = lsp_types::MessageType::ERROR;
                            let shown = lsp_types::ShowMessageParams { typ, message };
                            let method = notification::ShowMessage::METHOD.to_owned();
                            self.send(Notification::new(method, shown));
                        }
                    }
                }
            }
            notification::DidChangeTextDocument::METHOD => {
                if let Some(changed) = params::<lsp_types::DidChangeTextDocumentParams>(notice)
                    && let Some(desk) = self.documents.get_mut(&changed.text_document.uri)
                {
                    desk.edit(changed.content_changes, changed.text_document.version);
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Some(closed) = params::<lsp_types::DidCloseTextDocumentParams>(notice) {
                    let uri = closed.text_document.uri;
                    if let Some(desk) = self.documents.remove(&uri) {
                        desk.close();
                    }
                    self.show(PublishDiagnosticsParams {
                        uri,
                        diagnostics: Vec::new(),
                        version: None,
                    });
                }
            }
            _ => {}
        }
    }

    fn show(&self, findings: PublishDiagnosticsParams) {
        let method = notification::PublishDiagnostics::METHOD.to_owned();
        self.send(Notification::new(method, findings));
    }

    /// Passes a result of another thread on to the client.
    fn pass_on(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Panic(panic) => std::panic::resume_unwind(panic),
            Outcome::Message(message) => {
                if let Message::Response(answer) = &message
                    && !self.open_requests.remove(&answer.id)
                {
                    return;
                }
                self.send(message);
            }
            Outcome::Findings(number, findings) => {
                // The document may have been closed meanwhile.
                let desk = self.documents.get(&findings.uri);
                if desk.is_some_and(|desk| desk.number() == number) {
                    self.show(findings);
                }
            }
        }
    }

    /// Lets the documents finish their work for a short time. Requests that are still open
    /// then get an error.
    fn finish(&mut self, sender: Sender<Outcome>, results: &Receiver<Outcome>) {
        drop(sender);
        let stops: Vec<Stop> = (self.documents.values_mut()).map(Desk::last_task).collect();
        let end = Instant::now() + REST;
        // The channel is closed as soon as no thread works any more.
        while let Ok(outcome) = results.recv_deadline(end) {
            self.pass_on(outcome);
        }
        stops.iter().for_each(Stop::raise);
        for id in std::mem::take(&mut self.open_requests) {
            self.send(RequestError::Ended.answer(id));
        }
    }

    /// Hands a request to the thread of its document.
    fn request(&mut self, request: Request, sender: &Sender<Outcome>) {
        let id = request.id.clone();
        // Answers are told apart by their identifiers.
        if self.open_requests.contains(&id) {
            return self.send(RequestError::IdInUse.answer(id));
        }
        let read = match request.method.as_str() {
            request::HoverRequest::METHOD => on_document(
                request,
                |params: &HoverParams| &params.text_document_position_params.text_document.uri,
                hover,
            ),
            request::GotoDefinition::METHOD => on_document(
                request,
                |params: &GotoDefinitionParams| {
                    &params.text_document_position_params.text_document.uri
                },
                definition,
            ),
            request::References::METHOD => on_document(
                request,
                |params: &ReferenceParams| &params.text_document_position.text_document.uri,
                references,
            ),
            request::PrepareRenameRequest::METHOD => on_document(
                request,
                |params: &TextDocumentPositionParams| &params.text_document.uri,
                prepare_rename,
            ),
            request::Rename::METHOD => on_document(
                request,
                |params: &RenameParams| &params.text_document_position.text_document.uri,
                rename,
            ),
            request::Completion::METHOD => on_document(
                request,
                |params: &CompletionParams| &params.text_document_position.text_document.uri,
                completion,
            ),
            request::CodeActionRequest::METHOD => on_document(
                request,
                |params: &CodeActionParams| &params.text_document.uri,
                actions,
            ),
            request::Formatting::METHOD => on_document(
                request,
                |params: &DocumentFormattingParams| &params.text_document.uri,
                format,
            ),
            request::DocumentSymbolRequest::METHOD => on_document(
                request,
                |params: &DocumentSymbolParams| &params.text_document.uri,
                symbols,
            ),
            request::CodeLensRequest::METHOD => on_document(
                request,
                |params: &lsp_types::CodeLensParams| &params.text_document.uri,
                lenses,
            ),
            request::ExecuteCommand::METHOD => command(request, self.settings.time, sender.clone()),
            other => Err(RequestError::UnsupportedMethod(other.to_owned())),
        };
        let handed = read.and_then(|(uri, question)| match self.documents.get(&uri) {
            Some(desk) => {
                desk.ask(id.clone(), question);
                Ok(())
            }
            None => Err(RequestError::NotOpen(uri.as_str().to_owned())),
        });
        match handed {
            Ok(()) => drop(self.open_requests.insert(id)),
            Err(error) => self.send(error.answer(id)),
        }
    }
}

/// The document that a request is about, and the function that answers it.
fn on_document<P: DeserializeOwned + Send + 'static, A: Serialize>(
    request: Request,
    uri: impl Fn(&P) -> &Uri,
    answer: impl FnOnce(&Document, P) -> Result<A, RequestError> + Send + 'static,
) -> Result<(Uri, Question), RequestError> {
    let params: P = serde_json::from_value(request.params).map_err(RequestError::InvalidParams)?;
    let uri = uri(&params).clone();
    let question = move |document: &Document| {
        let answer = serde_json::to_value(answer(document, params)?);
        answer.map(Some).map_err(RequestError::Internal)
    };
    Ok((uri, Box::new(question)))
}

/// The command of a lens, which another thread answers.
fn command(
    request: Request,
    time: Duration,
    results: Sender<Outcome>,
) -> Result<(Uri, Question), RequestError> {
    let params: ExecuteCommandParams =
        serde_json::from_value(request.params).map_err(RequestError::InvalidParams)?;
    let uri = params.arguments.into_iter().next();
    let uri: Option<Uri> = uri.and_then(|uri| serde_json::from_value(uri).ok());
    let uri = uri.ok_or(RequestError::MissingUri)?;
    let question = move |document: &Document| {
        let game = document.rules.game().ok_or(RequestError::RulesHaveErrors)?;
        // After the end of the session, there is nobody who could get a message.
        let sender = move |message| drop(results.send(Outcome::Message(message)));
        lens::start(&params.command, game, time, request.id, sender)?;
        Ok(None)
    };
    Ok((uri, Box::new(question)))
}

fn hover(
    document: &Document,
    params: HoverParams,
) -> Result<Option<lsp_types::Hover>, RequestError> {
    let at = params.text_document_position_params;
    let found = document.rules.hover(at.position);
    Ok(found.map(|(span, text)| lsp_types::Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: text,
        }),
        range: Some(document.rules.range(span)),
    }))
}

fn definition(
    document: &Document,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>, RequestError> {
    let at = params.text_document_position_params;
    let places = document.rules.definitions(at.position);
    Ok(Some(GotoDefinitionResponse::Array(
        document.locations(places),
    )))
}

fn references(document: &Document, params: ReferenceParams) -> Result<Vec<Location>, RequestError> {
    let at = params.text_document_position;
    let mut places = document.rules.uses_of(at.position);
    if !params.context.include_declaration {
        let declared = document.rules.definitions(at.position);
        places.retain(|place| !declared.contains(place));
    }
    Ok(document.locations(places))
}

fn prepare_rename(
    document: &Document,
    params: TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>, RequestError> {
    let name = document.renamable(params.position);
    Ok(name.map(|span| PrepareRenameResponse::Range(document.rules.range(span))))
}

fn rename(document: &Document, params: RenameParams) -> Result<WorkspaceEdit, RequestError> {
    let at = params.text_document_position;
    let places = document.rename(at.position, &params.new_name)?;
    let edits: Vec<TextEdit> = (places.into_iter())
        .map(|place| TextEdit {
            range: document.rules.range(place),
            new_text: params.new_name.clone(),
        })
        .collect();
    Ok(WorkspaceEdit {
        changes: Some([(at.text_document.uri, edits)].into()),
        ..WorkspaceEdit::default()
    })
}

fn completion(
    document: &Document,
    params: CompletionParams,
) -> Result<Vec<lsp_types::CompletionItem>, RequestError> {
    let at = params.text_document_position;
    Ok(document.rules.completions(at.position))
}

fn actions(document: &Document, params: CodeActionParams) -> Result<Vec<CodeAction>, RequestError> {
    let mut actions = document.quick_fixes(params.range);
    if let Some(only) = params.context.only {
        // A client that asks for `a` also asks for `a.b`.
        let is_of = |kind: &str, wanted: &str| {
            let rest = kind.strip_prefix(wanted);
            rest.is_some_and(|rest| wanted.is_empty() || rest.is_empty() || rest.starts_with('.'))
        };
        actions.retain(|action| {
            let kind = action.kind.as_ref().map_or("", CodeActionKind::as_str);
            only.iter().any(|wanted| is_of(kind, wanted.as_str()))
        });
    }
    Ok(actions)
}

fn format(document: &Document, _: DocumentFormattingParams) -> Result<Vec<TextEdit>, RequestError> {
    document.formatted()
}

fn symbols(
    document: &Document,
    _: DocumentSymbolParams,
) -> Result<DocumentSymbolResponse, RequestError> {
    Ok(DocumentSymbolResponse::Nested(document.outline()))
}

fn lenses(
    document: &Document,
    _: lsp_types::CodeLensParams,
) -> Result<Vec<lsp_types::CodeLens>, RequestError> {
    Ok(lens::lenses(document))
}

/// Converts a finding to the protocol's format.
fn protocol_finding(finding: &diagnostic::Diagnostic, document: &Document) -> Diagnostic {
    let range = |span| document.rules.range(span);
    let notes = finding
        .notes
        .iter()
        .map(|(span, text)| DiagnosticRelatedInformation {
            location: Location {
                uri: document.uri.clone(),
                range: range(*span),
            },
            message: text.clone(),
        });
    let message = match &finding.help {
        Some(help) => format!("{}\nhelp: {help}", finding.message),
        None => finding.message.clone(),
    };
    Diagnostic {
        range: finding.span.map(range).unwrap_or_default(),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(finding.code.as_str().to_owned())),
        source: Some("ggp".to_owned()),
        message,
        related_information: Some(notes.collect()),
        ..Diagnostic::default()
    }
}
