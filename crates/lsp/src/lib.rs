//! A language server for rule files in editors.
//!
//! In: messages of the Language Server Protocol 3.17. Out: answers. One thread reads and
//! answers. A command of a lens runs on a thread of its own with a time limit, so that
//! typing is never blocked. Positions are counted in UTF-16 code units, the default of the
//! protocol, unless both sides agree otherwise.

mod complete;
mod document;
mod error;
mod fixes;
mod hover;
mod lens;
mod slots;
mod wire;

use std::collections::HashMap;
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, ProtocolError, Request, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProviderCapability,
    CodeLensOptions, CompletionOptions, CompletionParams, Diagnostic, DiagnosticRelatedInformation,
    DiagnosticSeverity, DocumentFormattingParams, DocumentSymbolParams, DocumentSymbolResponse,
    ExecuteCommandOptions, ExecuteCommandParams, GotoDefinitionParams, GotoDefinitionResponse,
    HoverParams, HoverProviderCapability, Location, NumberOrString, OneOf, PrepareRenameResponse,
    PublishDiagnosticsParams, ReferenceParams, RenameOptions, RenameParams, ServerCapabilities,
    TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextEdit, Uri,
    WorkDoneProgressOptions, WorkspaceEdit,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use document::Document;
use error::RequestError;
use ggp_gdl::check::ReadOptions;
use ggp_gdl::diagnostic::{self, Severity};

pub use wire::{Threads, stdio};

/// Settings of the server.
#[derive(Copy, Clone, Debug)]
pub struct Settings {
    /// Time limit for commands of lenses.
    pub time: Duration,
    /// Options for reading rules.
    pub read: ReadOptions,
}

/// Serves one client until it shuts the server down.
///
/// # Errors
///
/// If the client violates the protocol. A request that fails gets an error as its answer
/// and ends nothing.
pub fn serve(connection: Connection, settings: &Settings) -> Result<(), ProtocolError> {
    let (id, _) = connection.initialize_start()?;
    connection.initialize_finish(
        id,
        serde_json::json!({
            "capabilities": capabilities(),
            "serverInfo": { "name": "ggp", "version": env!("CARGO_PKG_VERSION") },
        }),
    )?;
    let mut server = Server {
        connection,
        settings: *settings,
        documents: HashMap::new(),
    };
    // A closed channel ends the loop, as a client that disconnects does.
    while let Ok(message) = server.connection.receiver.recv() {
        match message {
            Message::Request(request) => {
                if server.connection.handle_shutdown(&request)? {
                    break;
                }
                server.request(request);
            }
            Message::Notification(notice) => server.notice(notice),
            Message::Response(_) => {}
        }
        // Of several texts in the queue, only the last one is checked.
        if server.connection.receiver.is_empty() {
            server.publish();
        }
    }
    Ok(())
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
    documents: HashMap<Uri, Document>,
}

impl Server {
    fn send(&self, message: impl Into<Message>) {
        // A client that has disconnected gets no answer.
        let _ = self.connection.sender.send(message.into());
    }

    fn notice(&mut self, notice: Notification) {
        fn params<T: DeserializeOwned>(notice: Notification) -> Option<T> {
            serde_json::from_value(notice.params).ok()
        }
        match notice.method.as_str() {
            notification::DidOpenTextDocument::METHOD => {
                if let Some(opened) = params::<lsp_types::DidOpenTextDocumentParams>(notice) {
                    let item = opened.text_document;
                    let document = Document::new(item.uri.clone(), item.version, item.text);
                    self.documents.insert(item.uri, document);
                }
            }
            notification::DidChangeTextDocument::METHOD => {
                if let Some(changed) = params::<lsp_types::DidChangeTextDocumentParams>(notice)
                    && let Some(document) = self.documents.get_mut(&changed.text_document.uri)
                {
                    for change in changed.content_changes {
                        document.change(change.range, &change.text);
                    }
                    document.version = changed.text_document.version;
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Some(closed) = params::<lsp_types::DidCloseTextDocumentParams>(notice) {
                    let uri = closed.text_document.uri;
                    self.documents.remove(&uri);
                    self.show(uri, None, Vec::new());
                }
            }
            _ => {}
        }
    }

    /// Publishes the findings of changed texts.
    fn publish(&mut self) {
        let changed: Vec<Uri> = (self.documents.iter())
            .filter(|(_, document)| document.is_changed())
            .map(|(uri, _)| uri.clone())
            .collect();
        for uri in changed {
            let document = self.documents.get_mut(&uri).expect("it is open");
            let found = document.findings(&self.settings.read);
            let version = document.version;
            self.show(uri, Some(version), found);
        }
    }

    fn show(&self, uri: Uri, version: Option<i32>, diagnostics: Vec<Diagnostic>) {
        let params = PublishDiagnosticsParams {
            uri,
            diagnostics,
            version,
        };
        let method = notification::PublishDiagnostics::METHOD.to_owned();
        self.send(Notification::new(method, params));
    }

    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        let answer = match request.method.as_str() {
            request::HoverRequest::METHOD => self.answer(request, Self::hover),
            request::GotoDefinition::METHOD => self.answer(request, Self::definition),
            request::References::METHOD => self.answer(request, Self::references),
            request::PrepareRenameRequest::METHOD => self.answer(request, Self::prepare_rename),
            request::Rename::METHOD => self.answer(request, Self::rename),
            request::Completion::METHOD => self.answer(request, Self::completion),
            request::CodeActionRequest::METHOD => self.answer(request, Self::actions),
            request::Formatting::METHOD => self.answer(request, Self::format),
            request::DocumentSymbolRequest::METHOD => self.answer(request, Self::symbols),
            request::CodeLensRequest::METHOD => self.answer(request, Self::lenses),
            request::ExecuteCommand::METHOD => match self.execute(request) {
                // The thread answers.
                Ok(()) => return,
                Err(error) => Err(error),
            },
            other => Err(RequestError::UnsupportedMethod(other.to_owned())),
        };
        self.send(match answer {
            Ok(value) => Response::new_ok(id, value),
            Err(error) => Response::new_err(id, error.code() as i32, error.to_string()),
        });
    }

    fn answer<P: DeserializeOwned, A: Serialize>(
        &mut self,
        request: Request,
        how: impl FnOnce(&mut Self, P) -> Result<A, RequestError>,
    ) -> Result<serde_json::Value, RequestError> {
        let params = serde_json::from_value(request.params).map_err(RequestError::InvalidParams)?;
        let answer = how(self, params)?;
        serde_json::to_value(answer).map_err(RequestError::Internal)
    }

    /// An open document, after checking it.
    fn document(&mut self, uri: &Uri) -> Result<&mut Document, RequestError> {
        match self.documents.get_mut(uri) {
            Some(document) => {
                document.check(&self.settings.read);
                Ok(document)
            }
            None => Err(RequestError::NotOpen(uri.as_str().to_owned())),
        }
    }

    fn hover(&mut self, params: HoverParams) -> Result<Option<lsp_types::Hover>, RequestError> {
        let at = params.text_document_position_params;
        Ok(self.document(&at.text_document.uri)?.hover(at.position))
    }

    fn definition(
        &mut self,
        params: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>, RequestError> {
        let at = params.text_document_position_params;
        let document = self.document(&at.text_document.uri)?;
        let places = document.definitions(at.position);
        Ok(Some(GotoDefinitionResponse::Array(
            document.locations(places),
        )))
    }

    fn references(&mut self, params: ReferenceParams) -> Result<Vec<Location>, RequestError> {
        let at = params.text_document_position;
        let document = self.document(&at.text_document.uri)?;
        let mut places = document.uses_of(at.position);
        if !params.context.include_declaration {
            let declared = document.definitions(at.position);
            places.retain(|place| !declared.contains(place));
        }
        Ok(document.locations(places))
    }

    fn prepare_rename(
        &mut self,
        params: TextDocumentPositionParams,
    ) -> Result<Option<PrepareRenameResponse>, RequestError> {
        let document = self.document(&params.text_document.uri)?;
        let name = document.renamable(params.position);
        Ok(name.map(|span| PrepareRenameResponse::Range(document.range(span))))
    }

    fn rename(&mut self, params: RenameParams) -> Result<WorkspaceEdit, RequestError> {
        let at = params.text_document_position;
        let document = self.document(&at.text_document.uri)?;
        let places = document.rename(at.position, &params.new_name)?;
        let edits: Vec<TextEdit> = (places.into_iter())
            .map(|place| TextEdit {
                range: document.range(place),
                new_text: params.new_name.clone(),
            })
            .collect();
        Ok(WorkspaceEdit {
            changes: Some([(at.text_document.uri, edits)].into()),
            ..WorkspaceEdit::default()
        })
    }

    fn completion(
        &mut self,
        params: CompletionParams,
    ) -> Result<Vec<lsp_types::CompletionItem>, RequestError> {
        let at = params.text_document_position;
        Ok(self
            .document(&at.text_document.uri)?
            .completions(at.position))
    }

    fn actions(&mut self, params: CodeActionParams) -> Result<Vec<CodeAction>, RequestError> {
        let document = self.document(&params.text_document.uri)?;
        let mut actions = document.quick_fixes(params.range);
        if let Some(only) = params.context.only {
            // A client that asks for `a` also asks for `a.b`.
            let is_of = |kind: &str, wanted: &str| {
                let rest = kind.strip_prefix(wanted);
                rest.is_some_and(|rest| {
                    wanted.is_empty() || rest.is_empty() || rest.starts_with('.')
                })
            };
            actions.retain(|action| {
                let kind = action.kind.as_ref().map_or("", CodeActionKind::as_str);
                only.iter().any(|wanted| is_of(kind, wanted.as_str()))
            });
        }
        Ok(actions)
    }

    fn format(&mut self, params: DocumentFormattingParams) -> Result<Vec<TextEdit>, RequestError> {
        let document = self.document(&params.text_document.uri)?;
        document.formatted()
    }

    fn symbols(
        &mut self,
        params: DocumentSymbolParams,
    ) -> Result<DocumentSymbolResponse, RequestError> {
        let document = self.document(&params.text_document.uri)?;
        Ok(DocumentSymbolResponse::Nested(document.outline()))
    }

    fn lenses(
        &mut self,
        params: lsp_types::CodeLensParams,
    ) -> Result<Vec<lsp_types::CodeLens>, RequestError> {
        let document = self.document(&params.text_document.uri)?;
        Ok(lens::lenses(document))
    }

    fn execute(&mut self, request: Request) -> Result<(), RequestError> {
        let params: ExecuteCommandParams =
            serde_json::from_value(request.params).map_err(RequestError::InvalidParams)?;
        let uri = params.arguments.into_iter().next();
        let uri: Option<Uri> = uri.and_then(|uri| serde_json::from_value(uri).ok());
        let Some(uri) = uri else {
            return Err(RequestError::MissingUri);
        };
        let time = self.settings.time;
        let channel = self.connection.sender.clone();
        // A client that has disconnected gets no message.
        let sender = move |message| drop(channel.send(message));
        let document = self.document(&uri)?;
        let Some(game) = document.game() else {
            return Err(RequestError::RulesHaveErrors);
        };
        lens::start(&params.command, game, time, request.id, sender)
    }
}

/// Converts a finding to the protocol's format.
fn protocol_finding(finding: &diagnostic::Diagnostic, document: &Document) -> Diagnostic {
    let range = |span| document.range(span);
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
