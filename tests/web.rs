//! The web server, as seen by browsers and programs.

mod answers;
mod cells;
mod drawings;
mod editing;
mod export;
mod graph;
mod limits;
#[cfg(target_os = "linux")]
mod memory;
pub(crate) mod seats;
pub mod service;
mod start_page;
mod think;
mod values;

use serde_json::{Value, json};
use service::Service;

/// A walk of two or more steps, with a given name.
const WALK: &str = "
(role walker)
(init (at 0)) (after 0 1) (after 1 2)
(<= (legal walker go) (true (at ?x)) (after ?x ?y))
(<= (legal walker stay) (true (at ?x)))
(<= (next (at ?y)) (does walker go) (true (at ?x)) (after ?x ?y))
(<= (next (at ?x)) (does walker stay) (true (at ?x)))
(<= terminal (true (at 2)))
(<= (goal walker 100) (true (at 2)))
(<= (goal walker 0) (not (true (at 2))))";

fn set(text: &str) -> Value {
    json!({ "files": [{ "name": "own.kif", "text": text }] })
}

/// The rules of a bundled game.
fn rules(game: &str) -> String {
    let file = format!("{}/games/{game}.kif", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(file).expect("it is there")
}

#[test]
fn a_game_is_played_to_its_end_against_a_player() {
    let service = Service::start(&[]);
    let mut moves: Vec<Vec<String>> = Vec::new();
    let last = loop {
        let asked = json!({ "moves": moves });
        let position = service.post("/api/games/tic_tac_toe/position", &asked).ok();
        assert_eq!(position["ply"], moves.len());
        if position["over"] == true {
            break position;
        }
        let turn = position["turn"][0].as_u64().expect("somebody has a choice");
        let mut joint: Vec<String> = (0..2)
            .map(|role| text(&position["legal"][role][0]["move"]))
            .collect();
        if turn == 1 {
            let asked = json!({ "moves": moves, "role": 1, "player": "mcts:500" });
            let events = service
                .post("/api/games/tic_tac_toe/think", &asked)
                .events();
            let (name, thought) = events.last().expect("it has an answer");
            assert_eq!(name, "move");
            assert!(!thought["candidates"].as_array().expect("a list").is_empty());
            joint[1] = text(&thought["move"]);
        }
        moves.push(joint);
    };
    assert_eq!(last["legal"], json!([]));
    let goals: Vec<u64> = (0..2)
        .map(|role| last["goals"][role].as_u64().expect("a goal"))
        .collect();
    // A player that takes the first free cell loses against it, or draws at best.
    assert!(goals[1] >= 50, "{goals:?}");
    let beyond = service.post(
        "/api/games/tic_tac_toe/think",
        &json!({
            "moves": moves, "role": 0, "player": "random"
        }),
    );
    assert_eq!(beyond.events().last().expect("an answer").0, "failed");
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

#[test]
fn a_puzzle_is_solved_and_the_plan_reaches_the_goal() {
    let service = Service::start(&[]);
    let events = service
        .post("/api/games/lights_out_3x3/solve", &json!({ "seconds": 60 }))
        .events();
    let (name, answer) = events.last().expect("it has an answer");
    assert_eq!((&name[..], &answer["solved"]), ("answer", &json!(true)));
    let plan = answer["plan"].as_array().expect("a plan").iter();
    let moves: Vec<Value> = plan.map(|action| json!([action])).collect();
    let position = service
        .post(
            "/api/games/lights_out_3x3/position",
            &json!({ "moves": moves }),
        )
        .ok();
    assert_eq!(
        (&position["over"], &position["goals"]),
        (&json!(true), &json!([100]))
    );
    let wrong = service
        .post("/api/games/tic_tac_toe/solve", &json!({}))
        .events();
    let (name, told) = wrong.last().expect("it has an answer");
    assert_eq!(name, "failed");
    assert!(text(&told["message"]).contains("2"), "{told}");
}

#[test]
fn uploaded_rules_are_checked_stored_and_private() {
    let service = Service::start(&["--max-games", "2"]);
    let broken = WALK.replace(
        "(true (at ?x)) (after ?x ?y))",
        "(true (at ?x) (after ?x ?y))",
    );
    let check = service.post("/api/check", &set(&broken)).ok();
    assert_eq!(check["right"], false);
    let place = &check["findings"][0]["place"];
    assert!(
        place["line"].as_u64() > Some(3) && place["column"].as_u64() >= Some(1),
        "{check}"
    );
    assert_eq!(service.post("/api/games", &set(&broken)).status, 422);

    let game = service.post("/api/games", &set(WALK)).ok();
    let id = text(&game["id"]);
    let asked = json!({ "moves": [["go"]] });
    let position = service
        .post(&format!("/api/games/{id}/position"), &asked)
        .ok();
    assert_eq!(position["facts"], json!(["(at 1)"]));
    // Another browser cannot access it.
    let other = service.anew();
    assert_eq!(other.get(&format!("/api/games/{id}")).status, 404);
    // Of three games, the least recently used one is dropped.
    for more in ["; one", "; two"] {
        service
            .post("/api/games", &set(&format!("{WALK}\n{more}")))
            .ok();
    }
    assert_eq!(service.get(&format!("/api/games/{id}")).status, 404);
    assert_eq!(service.post("/api/games", &set(WALK)).ok()["id"], id);
}

#[test]
fn wrong_requests_get_an_error_message() {
    let service = Service::start(&["--max-request", "20000"]);
    let position = "/api/games/tic_tac_toe/position";
    let wrong = |path: &str, asked: Value, status: u16, word: &str| {
        let answer = service.post(path, &asked);
        assert_eq!(answer.status, status, "{path} {asked}: {}", answer.body);
        let told = answer.json();
        assert!(
            text(&told["message"]).contains(word),
            "{path} {asked}: {told}"
        );
    };
    wrong(
        position,
        json!({ "moves": [["(mark 1 1)"], []] }),
        400,
        "move 2",
    );
    wrong(
        position,
        json!({ "moves": [["(mark 9 1)", "wait"]] }),
        400,
        "move 1",
    );
    wrong(
        position,
        json!({ "moves": [["(mark 1", "wait"]] }),
        400,
        "move 1",
    );
    wrong(position, json!({ "move": [] }), 400, "unknown field");
    for asked in [position, "/api/games/tic_tac_toe/why"] {
        let question = match asked == position {
            true => json!({ "seat": 2 }),
            false => json!({ "seat": 2, "question": "terminal" }),
        };
        wrong(asked, question, 400, "the game has 2 roles");
    }
    wrong(
        "/api/games/no_such_game/position",
        json!({}),
        404,
        "no_such_game",
    );
    wrong("/api/games/..%2Fsecret/position", json!({}), 404, "secret");
    let think = "/api/games/tic_tac_toe/think";
    wrong(think, json!({ "role": 0, "player": "hal" }), 400, "mcts");
    wrong(
        think,
        json!({ "role": 0, "player": "mcts:what=1" }),
        400,
        "what",
    );
    wrong(
        think,
        json!({ "role": 7, "player": "mcts" }),
        400,
        "2 roles",
    );
    wrong(
        think,
        json!({ "role": 0, "player": "mcts", "seconds": -1 }),
        400,
        "seconds",
    );
    let solve = "/api/games/lights_out_3x3/solve";
    wrong(solve, json!({ "method": "luck" }), 400, "iterative");
    let why = "/api/games/tic_tac_toe/why";
    wrong(why, json!({ "question": "(legal" }), 400, "");
    wrong(
        why,
        json!({ "question": "(does cross wait)" }),
        400,
        "moves",
    );
    wrong("/api/games", json!({ "files": [] }), 400, "file");
    wrong(
        "/api/check",
        set(&"; ".repeat(20_000)),
        413,
        "--max-request",
    );
    assert_eq!(service.get("/api/nothing").status, 404);
    assert_eq!(service.get("/page/..%2f..%2fCargo.toml").status, 404);
}

#[test]
fn moves_without_a_choice_can_be_left_out() {
    let service = Service::start(&[]);
    let position = "/api/games/tic_tac_toe/position";
    let whole = json!([["(mark 1 1)", "wait"], ["wait", "(mark 2 2)"]]);
    let short = json!([["(mark 1 1)"], ["(mark 2 2)"]]);
    let answer = |moves: &Value| service.post(position, &json!({ "moves": moves })).ok();
    let mut filled = answer(&short);
    assert_eq!(filled["moves"], whole);
    filled.as_object_mut().expect("an object").remove("moves");
    assert_eq!(filled, answer(&whole));
}

#[test]
fn names_that_are_markup_are_escaped() {
    let service = Service::start(&[]);
    let bad = "<script>alert</script>";
    let rules = rules("tic_tac_toe").replace("cross", bad);
    let game = service.post("/api/games", &set(&rules)).ok();
    let id = text(&game["id"]);
    let position = service
        .post(&format!("/api/games/{id}/position"), &json!({}))
        .ok();
    assert!(text(&position["text"]).contains("<script>"));
    let svg = text(&position["svg"]);
    assert!(
        !svg.contains("<script") && svg.contains("&lt;script&gt;"),
        "{svg}"
    );
    let card = service.get(&format!("/api/games/{id}/picture.svg"));
    assert!(!card.body.contains("<script"));
    let page = service.get("/");
    assert!(
        page.head
            .to_lowercase()
            .contains("content-security-policy: default-src 'none'")
    );
}

#[test]
fn servers_on_one_host_keep_separate_sessions() {
    let services = [Service::start(&[]), Service::start(&[])];
    let cookies = services.each_ref().map(|service| {
        let head = service.get("/api/players").head.to_lowercase();
        let cookie = head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        let (name, _) = cookie
            .and_then(|cookie| cookie.split_once('='))
            .expect("it has one");
        name.to_owned()
    });
    assert_ne!(cookies[0], cookies[1]);
}

#[test]
fn requests_from_other_sites_are_rejected() {
    let service = Service::start(&[]);
    assert_eq!(
        service
            .get_with("/api/games", "Host: evil.example\r\n")
            .status,
        403
    );
    let host = service.host();
    let from = |origin: &str| {
        let headers = format!("Host: {host}\r\nOrigin: {origin}\r\n");
        service.get_with("/api/games", &headers).status
    };
    assert_eq!(from(&format!("http://{host}")), 200);
    assert_eq!(from("http://evil.example"), 403);
    assert_eq!(from("null"), 403);
}

#[test]
fn pictures_and_cells_of_moves_do_not_depend_on_names() {
    let service = Service::start(&[]);
    for name in [
        "tic_tac_toe",
        "connect_four",
        "breakthrough",
        "senku",
        "chomp",
    ] {
        let text_of = |kif: &str| service.post("/api/games", &set(kif)).ok();
        let own = rules(name);
        let scrambled = service::scrambled(name);
        let ids = [own, scrambled].map(|kif| text(&text_of(&kif)["id"]));
        let look = |id: &String| {
            let position = service
                .post(&format!("/api/games/{id}/position"), &json!({}))
                .ok();
            let boards = position["drawing"]["boards"]
                .as_array()
                .expect("a list")
                .iter();
            let shape = |board: &Value| {
                let rows = board["contents"].as_array().expect("rows").iter();
                let lengths = |row: &Value| {
                    let places = row.as_array().expect("places").iter();
                    let many = |place: &Value| place.as_array().map(Vec::len);
                    places.map(many).collect::<Vec<_>>()
                };
                rows.map(lengths).collect::<Vec<_>>()
            };
            let shapes: Vec<_> = boards.map(shape).collect();
            let legal = position["legal"].as_array().expect("a list").iter();
            let cells = |moves: &Value| {
                let moves = moves.as_array().expect("a list").iter();
                moves.map(|one| one["cells"].clone()).collect::<Vec<_>>()
            };
            (shapes, legal.map(cells).collect::<Vec<_>>())
        };
        let found = ids.each_ref().map(look);
        assert_eq!(found[0], found[1], "{name}");
        let (shapes, cells) = &found[0];
        assert!(!shapes.is_empty(), "{name}");
        let first = cells
            .iter()
            .find(|moves| moves.len() > 1)
            .expect("somebody has a choice");
        let is_somewhere = |cells: &Value| !cells.as_array().expect("a list").is_empty();
        assert!(first.iter().all(is_somewhere), "{name}: {first:?}");
    }
}

#[test]
fn choices_at_a_table_are_hidden_until_all_have_chosen() {
    let service = Service::start(&[]);
    let other = service.anew();
    let seats = json!({ "game": "rock_paper_scissors", "seats": ["person", "person"] });
    let laid = service.post("/api/tables", &seats).ok();
    let path = format!("/api/tables/{}", text(&laid["table"]));
    let mut watch = other.stream(&path);
    let at_first = watch.next_event().1;
    assert_eq!(at_first["chosen"], json!([false, false]));
    let game = service
        .post("/api/games/rock_paper_scissors/position", &json!({}))
        .ok();
    let legal = |role: usize, k: usize| text(&game["legal"][role][k]["move"]);
    let moves = format!("{path}/moves");
    let choose = |browser: &Service, role: usize, action: &str, ply: usize| {
        let asked = json!({ "key": laid["keys"][role], "ply": ply, "move": action });
        browser.post(&moves, &asked)
    };
    choose(&service, 0, &legal(0, 0), 0).ok();
    let half = watch.next_event().1;
    assert_eq!(
        (&half["chosen"], &half["moves"]),
        (&json!([true, false]), &json!([]))
    );
    assert_eq!(choose(&other, 1, "(no such move)", 0).status, 400);
    assert_eq!(choose(&other, 1, &legal(1, 1), 3).status, 409);
    let stranger = json!({ "key": "guess", "ply": 0, "move": legal(1, 1) });
    assert_eq!(other.post(&moves, &stranger).status, 403);
    choose(&other, 1, &legal(1, 1), 0).ok();
    let full = watch.next_event().1;
    assert_eq!(full["moves"], json!([[legal(0, 0), legal(1, 1)]]));
}

#[test]
fn players_take_their_seats_at_a_table() {
    let service = Service::start(&[]);
    let seats = json!({ "game": "tic_tac_toe", "seats": ["first", "person"] });
    let laid = service.post("/api/tables", &seats).ok();
    assert_eq!(laid["keys"][0], Value::Null);
    let mut watch = service.stream(&format!("/api/tables/{}", text(&laid["table"])));
    while watch.next_event().1["moves"]
        .as_array()
        .expect("a list")
        .is_empty()
    {}
    // A person may choose while a player thinks.
    let seats = json!({ "game": "rock_paper_scissors", "seats": ["person", "mcts:0.3s"] });
    let laid = service.post("/api/tables", &seats).ok();
    let path = format!("/api/tables/{}", text(&laid["table"]));
    let mut watch = service.stream(&path);
    let (mut moves, mut asked_at) = (0, None);
    while moves < 2 {
        let seen = watch.next_event().1;
        assert_eq!(seen["failed"], Value::Null, "{seen}");
        moves = seen["moves"].as_array().expect("a list").len();
        if seen["over"] == true {
            break;
        }
        if seen["chosen"][0] == false && asked_at != Some(moves) {
            asked_at = Some(moves);
            let asked = json!({ "moves": seen["moves"] });
            let position = service
                .post("/api/games/rock_paper_scissors/position", &asked)
                .ok();
            let action = &position["legal"][0][0]["move"];
            let asked = json!({ "key": laid["keys"][0], "ply": moves, "move": action });
            service.post(&format!("{path}/moves"), &asked).ok();
        }
    }
    let wrong = json!({ "game": "tic_tac_toe", "seats": ["person"] });
    assert_eq!(service.post("/api/tables", &wrong).status, 400);
}

#[test]
fn work_is_limited_and_stops_when_the_client_disconnects() {
    let service = Service::start(&["--max-jobs-each", "2"]);
    let path = "/api/games/connect_four/think";
    let asked = json!({ "role": 0, "player": "mcts:100s" });
    let mut streams = [
        service.stream_of(path, &asked),
        service.stream_of(path, &asked),
    ];
    for stream in &mut streams {
        assert_eq!(stream.next_event().0, "thought");
    }
    assert_eq!(service.post(path, &asked).status, 429);
    // Other sessions are not affected.
    let other = service.anew();
    let quick = json!({ "role": 0, "player": "first" });
    assert_eq!(
        other
            .post(path, &quick)
            .events()
            .last()
            .expect("an answer")
            .0,
        "move"
    );
    drop(streams);
    // Eventually there is room again.
    while service.post(path, &quick).status == 429 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn fifty_browsers_are_served_at_once() {
    let service = Service::start(&[]);
    std::thread::scope(|scope| {
        let browsers: Vec<_> = (0..50).map(|_| service.anew()).collect();
        for (number, browser) in browsers.into_iter().enumerate() {
            scope.spawn(move || {
                let own = set(&format!("{WALK}\n; {number}"));
                let id = text(&browser.post("/api/games", &own).ok()["id"]);
                let path = format!("/api/games/{id}");
                let moves = json!({ "moves": [["go"], ["go"]] });
                let position = browser.post(&format!("{path}/position"), &moves).ok();
                assert_eq!(position["goals"], json!([100]));
                let asked = json!({ "role": 0, "player": "mcts:200" });
                let events = browser.post(&format!("{path}/think"), &asked).events();
                assert_eq!(events.last().expect("an answer").1["move"], "go");
            });
        }
    });
}

/// The first digits of a hash of the names and contents of all files of a folder.
fn hash_of(folder: &str) -> String {
    let mut modules: Vec<_> = std::fs::read_dir(folder)
        .expect("it is there")
        .map(|file| file.expect("it is there").path())
        .collect();
    modules.sort();
    let mut hash = hmac_sha256::Hash::new();
    for path in modules {
        let name = path.file_name().expect("a name").to_string_lossy();
        hash.update(format!("{name}\n"));
        hash.update(std::fs::read(&path).expect("it can be read"));
    }
    let digest = hash.finalize();
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The modules are served as one bundle, which must be rebuilt after a change.
#[test]
fn the_bundle_is_up_to_date() {
    let root = env!("CARGO_MANIFEST_DIR");
    let digest = hash_of(&format!("{root}/crates/web/src/page"));
    let made =
        std::fs::read_to_string(format!("{root}/crates/web/src/served/page.js")).expect("text");
    let first = made.lines().next().expect("a line");
    assert!(
        first.ends_with(&format!("with {digest}.")),
        "node tests/web/bundle.mjs makes it: {first}"
    );
}

/// The library of the editor is a bundle, too: of the versions that package-lock.json has.
#[test]
fn the_library_of_the_editor_is_up_to_date() {
    let root = env!("CARGO_MANIFEST_DIR");
    let read = |path: &str| std::fs::read_to_string(format!("{root}/{path}")).expect("text");
    let made = read("crates/web/src/served/editor.js");
    let first = made.lines().next().expect("a line");
    let digest = hash_of(&format!("{root}/tests/web/library"));
    assert!(
        first.contains(&format!("with {digest}.")),
        "node tests/web/bundle.mjs makes it: {first}"
    );
    let lock: Value = serde_json::from_str(&read("tests/web/package-lock.json")).expect("JSON");
    // The licences of the script name its packages first.
    let licences = read("crates/web/src/served/licences.txt");
    assert!(licences.contains("Permission is hereby granted"));
    let packages = licences.lines().skip(1).take_while(|line| !line.is_empty());
    let packages: Vec<(&str, &str)> = packages
        .map(|line| line.rsplit_once(' ').expect("a name and a version"))
        .collect();
    assert!(packages.len() > 5, "{packages:?}");
    for (name, version) in packages {
        let locked = &lock["packages"][format!("node_modules/{name}")]["version"];
        assert_eq!(
            locked, version,
            "node tests/web/bundle.mjs makes it: {name}"
        );
    }
}

#[test]
fn the_page_loads_nothing_from_other_servers() {
    let service = Service::start(&[]);
    let folder = format!("{}/crates/web/src/served", env!("CARGO_MANIFEST_DIR"));
    let index = service.get("/");
    assert_eq!(index.status, 200);
    for file in std::fs::read_dir(folder).expect("it is there") {
        let path = file.expect("it is there").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let own = std::fs::read_to_string(&path).expect("text");
        let served = service.get(&format!("/page/{name}"));
        assert_eq!((served.status, &served.body), (200, &own), "{name}");
        let rest = own.replace("http://www.w3.org/", "");
        assert!(
            !rest.contains("http://") && !rest.contains("https://"),
            "{name}"
        );
        assert!(!rest.contains("innerHTML"), "{name}");
    }
}
