//! Trees as an HTML page with collapsible lines, without scripts.

use std::fmt::Write as _;

use super::{Mark, Tree, counted};
use ggp_gdl::markup::escaped;

impl Tree {
    /// A complete page.
    pub fn page(title: &str, trees: &[Tree]) -> String {
        let mut out = String::from(HEAD);
        let title = escaped(title);
        let _ = write!(out, "<title>{title}</title></head><body><h1>{title}</h1>");
        trees.iter().for_each(|tree| tree.fragment(&mut out));
        out.push_str("</body></html>\n");
        out
    }

    /// The lines as nested `details` elements; those that hold in every position are
    /// closed.
    fn fragment(&self, out: &mut String) {
        let class = match self.mark {
            Mark::Holds => "holds",
            Mark::Fails => "fails",
            Mark::Open => "open",
            Mark::Group => "group",
        };
        let mut line = escaped(&self.line());
        if let Some(same) = self.same_as {
            let _ = write!(line, " <a href=\"#n{same}\">as above</a>");
        }
        if self.omitted > 0 {
            let _ = write!(line, " … {}", counted(self.omitted, "more line"));
        }
        let id = match self.id {
            Some(id) => format!(" id=\"n{id}\""),
            None => String::new(),
        };
        if self.because.is_empty() {
            let _ = write!(out, "<div{id} class=\"{class}\">{line}</div>");
            return;
        }
        let open = if self.always { "" } else { " open" };
        let _ = write!(
            out,
            "<details{id}{open} class=\"{class}\"><summary>{line}</summary>"
        );
        self.because.iter().for_each(|tree| tree.fragment(out));
        out.push_str("</details>");
    }
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><style>\
body{font:15px/1.5 ui-monospace,monospace;margin:2rem;color-scheme:light dark}\
h1{font-size:1.1rem}details,div{margin-left:1.2rem}summary{cursor:pointer}\
.holds>summary::before,div.holds::before{content:\"✓ \";color:#2a7d2a}\
.fails>summary::before,div.fails::before{content:\"✗ \";color:#c0392b}\
.open>summary::before,div.open::before{content:\"? \";color:#888}\
</style>";
