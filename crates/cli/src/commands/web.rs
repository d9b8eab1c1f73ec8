//! `ggp web`: the web page.

use ggp_gdl::counted::counted;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::runtime;

use crate::numbers::seconds;
use crate::rule_limits::CacheOptions;
use crate::value_files;
use crate::{Context, Exit, listening};
use ggp_web::{Engine, Server, WebLimits};

/// The default port.
const PORT: u16 = 9_180;
/// The number of further ports that are tried if it is taken.
const OTHERS: u16 = 20;

/// The options of `ggp web`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp web                     http://127.0.0.1:9180, for browsers on this machine
  ggp web --port 0            any free port
  ggp web --listen 0.0.0.0    for other machines as well
  ggp web --listen 0.0.0.0 --host games.example
                              also by this name
  ggp web --export page       files for any server that only sends files

The page offers the games that come with ggp and accepts your own rules. It loads nothing
from other servers. Its API is described at /api/openapi.json.")]
pub struct Options {
    /// Port; 0 for any free port [default: 9180, or the next free one]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Address to listen on; 0.0.0.0 for all addresses of this machine
    ///
    /// Anyone who can reach it can run players and solvers on this machine, within the
    /// limits. SECURITY.md says how to run the page in public.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    #[arg(value_parser = listening::address)]
    listen: IpAddr,
    /// Answer requests for this host name, too; may be repeated
    ///
    /// Addresses and `localhost` are always answered. Other names are not, because another
    /// site's page could use one to read the answers.
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Values of all positions for the player `auto`, which then plays perfectly: files of `ggp
    /// tabulate`
    #[arg(long, value_name = "FILE,...", value_delimiter = ',')]
    table: Vec<PathBuf>,
    /// Write the page as files for a server that only sends files, and start no server
    ///
    /// The browser runs the engine itself, as WebAssembly, and works without a network after
    /// the first visit. Matches between several people need a server, and so do values of all
    /// positions. The folder must not exist or be empty.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["port", "listen", "host", "table"])]
    export: Option<PathBuf>,
    /// With --export, the folder in which `.ci/wasm` made the engine; needed where this program
    /// was built without it
    #[arg(long, value_name = "DIR", requires = "export")]
    engine: Option<PathBuf>,
    /// Rule files, which the page itself reads.
    #[arg(hide = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    limits: LimitOptions,
}

/// The limits for browsers.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits")]
struct LimitOptions {
    /// Maximum size of a request with its rules, in bytes
    #[arg(long, value_name = "N", default_value_t = WebLimits::default().request_bytes)]
    max_request: usize,
    /// Maximum number of rule sets kept for a browser
    #[arg(long, value_name = "N", default_value_t = WebLimits::default().games)]
    max_games: usize,
    /// Maximum number of browsers remembered at once
    #[arg(long, value_name = "N", default_value_t = WebLimits::default().sessions)]
    max_sessions: usize,
    /// Maximum number of shared tables at once
    #[arg(long, value_name = "N", default_value_t = WebLimits::default().tables)]
    max_tables: usize,
    /// Maximum number of players and solvers running at once
    #[arg(long, value_name = "N", default_value_t = WebLimits::default().jobs)]
    max_jobs: usize,
    /// Maximum number of players and solvers running at once for one browser
    #[arg(long, value_name = "N", default_value_t = WebLimits::default().jobs_each)]
    max_jobs_each: usize,
    /// Maximum number of shared tables at once of one browser
    #[arg(long, value_name = "N", default_value_t = WebLimits::default().tables_each)]
    max_tables_each: usize,
    /// Maximum seconds for a move or a plan
    #[arg(long, value_name = "S", default_value = "300", value_parser = seconds)]
    max_thought: Duration,
    /// Maximum seconds for any other answer
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    max_question: Duration,
    /// Maximum seconds for a request to arrive
    #[arg(long, value_name = "S", default_value = "20", value_parser = seconds)]
    max_receive: Duration,
    /// Maximum number of connections; beyond it, idle ones are closed
    #[arg(long, value_name = "N", default_value_t = WebLimits::default().connections)]
    max_connections: usize,
    /// Maximum number of connections from one address
    #[arg(long, value_name = "N", default_value_t = WebLimits::default().connections_each)]
    max_connections_each: usize,
    /// Memory of the server, in MB
    ///
    /// A quarter is for games that are ready for use, half for the tables of all players and
    /// solvers, an eighth for those of one. If the server is larger all the same, the longest
    /// work is stopped (on Linux).
    #[arg(long, value_name = "MB", default_value_t = WebLimits::default().memory_bytes >> 20)]
    #[arg(value_parser = clap::value_parser!(u64).range(64..1 << 24))]
    memory: u64,
    /// Forget a browser or table after S seconds without a request
    #[arg(long, value_name = "S", default_value = "3600", value_parser = seconds)]
    idle: Duration,
    #[command(flatten)]
    cache: CacheOptions,
}

/// Runs the command, until it is interrupted.
///
/// # Errors
///
/// If the server cannot listen on the address.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    if let Some(file) = options.files.first() {
        bail!(
            "`ggp web` takes no rule file: start it without one, and drop {} on the page",
            file.display()
        );
    }
    if let Some(folder) = &options.export {
        return export(folder, options.engine.as_deref(), context);
    }
    let limits = WebLimits {
        request_bytes: options.limits.max_request,
        games: options.limits.max_games,
        sessions: options.limits.max_sessions,
        idle: options.limits.idle,
        jobs: options.limits.max_jobs,
        jobs_each: options.limits.max_jobs_each,
        tables: options.limits.max_tables,
        thought: options.limits.max_thought,
        tables_each: options.limits.max_tables_each,
        question: options.limits.max_question,
        receive: options.limits.max_receive,
        connections: options.limits.max_connections,
        connections_each: options.limits.max_connections_each,
        memory_bytes: options.limits.memory << 20,
        release: Some(crate::allocator::return_free_memory),
        hosts: options.host.clone(),
        values: value_files::tables(&options.table, None)?,
        networks: options.limits.cache.cache(),
    };
    crate::allocator::return_large_blocks();
    let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
    let stop = context.stop().clone();
    runtime.block_on(async {
        let server = bind(options, limits).await?;
        let address = server.address()?;
        let address = format!("http://{address}/");
        if context.json() {
            context.print_json(&serde_json::json!({ "address": address }))?;
        } else {
            context.print(address)?;
        }
        context.note(format_args!("press Ctrl-C to stop the server"));
        let end = async move {
            while !stop.is_raised() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        server.serve(end).await;
        anyhow::Ok(())
    })?;
    // Jobs that are still running are not awaited.
    runtime.shutdown_background();
    Ok(Exit::Done)
}

/// Writes the page as files.
fn export(folder: &Path, engine: Option<&Path>, context: &Context) -> anyhow::Result<Exit> {
    let engine = match engine {
        Some(folder) => Engine::read(folder).context(
            "no engine for browsers: make it with .ci/wasm, and name its folder with --engine",
        )?,
        None => Engine::own().context(
            "this program was built without the engine for browsers: make it with .ci/wasm, \
             and name its folder with --engine",
        )?,
    };
    let made = ggp_web::export(folder, &engine, context.stop())?;
    let (games, files, bytes) = (made.games, made.files, made.bytes);
    context.print(format!(
        "{}: {}, {}, {:.1} MB",
        folder.display(),
        counted(games, "game"),
        counted(files, "file"),
        bytes as f64 / 1e6
    ))?;
    context.note("any server that sends files can serve it, such as `python3 -m http.server`");
    Ok(Exit::Done)
}

/// Listens on the requested port, or on the first free one of a few.
async fn bind(options: &Options, limits: WebLimits) -> anyhow::Result<Server> {
    let ports = match options.port {
        Some(port) => port..=port,
        None => PORT..=PORT + OTHERS,
    };
    let mut failure = None;
    for port in ports {
        match Server::bind(SocketAddr::new(options.listen, port), limits.clone()).await {
            Ok(server) => return Ok(server),
            Err(error) => failure = failure.or(Some((port, error))),
        }
    }
    let (port, error) = failure.expect("a port was tried");
    Err(error).with_context(|| {
        format!(
            "cannot listen on port {port} of {}; choose another with --port",
            options.listen
        )
    })
}
