//! Says whether the engine for browsers becomes a part of the program: `GGP_ENGINE` is the
//! absolute path of the folder in which `.ci/wasm` made it.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-env-changed=GGP_ENGINE");
    println!("cargo::rustc-check-cfg=cfg(has_engine)");
    let Some(folder) = std::env::var_os("GGP_ENGINE") else {
        return;
    };
    let folder = Path::new(&folder);
    for file in ["engine.js", "engine.wasm"] {
        let path = folder.join(file);
        assert!(
            path.is_absolute() && path.exists(),
            "GGP_ENGINE must be the absolute path of a folder with {file}, which `.ci/wasm` makes"
        );
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rustc-cfg=has_engine");
}
