//! All forms of requests and all kinds of peers.

use super::*;

#[test]
fn requests_are_read_in_every_http_form() {
    let player = Running::new(options("first"));
    let check = |bytes: &str, expected: &str| {
        let answer = exchange(player.address, bytes.as_bytes());
        assert_eq!(body(&answer), expected, "{bytes}\n{answer}");
    };
    // The form of another host: no Host header, other letter case.
    check(
        "POST / HTTP/1.0\r\nAccept: text/delim\r\nSender: Gamecontroller\r\n\
         Receiver: us\r\nContent-type: text/acl\r\nContent-length: 6\r\n\r\n(INFO)",
        AVAILABLE,
    );
    check(
        "POST / HTTP/1.0\r\nCONTENT-LENGTH:8\r\n\r\n( INFO )",
        AVAILABLE,
    );
    check(
        "post / HTTP/1.0\r\ncontent-length: 6\r\n\r\n(INFO)",
        AVAILABLE,
    );
    // Bare line feeds, and empty lines before and within the request.
    check(
        "\r\n\r\nPOST / HTTP/1.0\nContent-Length: 6\n\n(INFO)",
        AVAILABLE,
    );
    check(
        "POST / HTTP/1.0\r\nContent-Length: 10\r\n\r\n\r\n\r\n(INFO)",
        AVAILABLE,
    );
    // An empty request is a ping.
    check("POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n", AVAILABLE);
    check("POST / HTTP/1.0\r\n\r\n", AVAILABLE);
    check("GET / HTTP/1.0\r\n\r\n", AVAILABLE);
    // No length.
    check("POST / HTTP/1.0\r\n\r\n(INFO)", AVAILABLE);
    check("POST / HTTP/1.0\r\n\r\n(play m1\r\nnil)\r\n", "busy");
    // A length that is too large or too small.
    check(
        "POST / HTTP/1.0\r\nContent-Length: 60\r\n\r\n(INFO)",
        AVAILABLE,
    );
    check(
        "POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\n(INFO)",
        AVAILABLE,
    );
    check(
        "POST / HTTP/1.0\r\nContent-Length: soon\r\n\r\n(INFO)",
        AVAILABLE,
    );
    // A length in characters instead of bytes.
    check(
        "POST / HTTP/1.0\r\nContent-Length: 15\r\n\r\n(PLAY \u{fc}\u{fc}\u{fc} NIL)",
        "busy",
    );
    // A message in the path.
    check("GET /%28%20INFO%20%29 HTTP/1.0\r\n\r\n", AVAILABLE);
    check(
        "GET /(PLAY+m1+NIL) HTTP/1.1\r\nConnection: close\r\n\r\n",
        "busy",
    );
    // A whole URL, as a proxy sends it.
    for scheme in ["http", "HTTP", "https"] {
        for path in [
            "/%28info%29",
            "/( INFO )".replace(' ', "+").as_str(),
            "/",
            "",
        ] {
            check(
                &format!("GET {scheme}://127.0.0.1:9147{path} HTTP/1.0\r\n\r\n"),
                AVAILABLE,
            );
        }
    }
    // Zero bytes and blanks around the message.
    for message in ["(INFO)\0", "\0(INFO)", "(INFO) \0\r\n\0"] {
        check(
            &format!(
                "POST / HTTP/1.0\r\nContent-Length: {}\r\n\r\n{message}",
                message.len()
            ),
            AVAILABLE,
        );
    }
    // An OPTIONS request.
    check("OPTIONS / HTTP/1.0\r\n\r\n", "");
    // A chunked body.
    check(
        "POST / HTTP/1.1\r\nHost: us\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
         3\r\n(IN\r\n3;x=y\r\nFO)\r\n0\r\n\r\n",
        AVAILABLE,
    );
    check(
        "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\nConnection: Close\r\n\r\n\
         6\r\n(INFO)\r\n0\r\nSum: 1\r\n\r\n",
        AVAILABLE,
    );
}

#[test]
fn invalid_requests_are_rejected_with_the_reason() {
    let player = Running::new(options("first"));
    let check = |bytes: &[u8], status: &str, reason: &str| {
        let answer = exchange(player.address, bytes);
        assert!(answer.contains(status), "{answer}");
        assert!(body(&answer).contains(reason), "{answer}");
    };
    check(b"(INFO)\r\n\r\n", " 400 ", "not an HTTP request");
    check(
        b"\x16\x03\x01\x02\x00\x01\n\n",
        " 400 ",
        "not an HTTP request",
    );
    check(&request("( WAIT m1 )"), " 400 ", "unknown message `wait`");
    check(&request("( INFO"), " 400 ", "brackets");
    check(&request("( PLAY m1 x noop () )"), " 400 ", "TURN");
    check(
        b"GET /favicon.ico HTTP/1.0\r\n\r\n",
        " 400 ",
        "unknown message",
    );
    check(
        b"DELETE / HTTP/1.0\r\n\r\n",
        " 405 ",
        "only GET, HEAD, POST and OPTIONS",
    );
    check(
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        " 400 ",
        "no size",
    );
    for length in ["900000000", "99999999999", &format!("1{}", "0".repeat(30))] {
        for head in ["HTTP/1.0", "HTTP/1.1", "HTTP/1.1\r\nExpect: 100-continue"] {
            let text = format!("POST / {head}\r\nContent-Length: {length}\r\n\r\n");
            check(text.as_bytes(), " 413 ", "too large");
            let answer = exchange(player.address, text.as_bytes());
            assert!(!answer.contains("100 Continue"), "{answer}");
        }
    }
    check(
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffff\r\n",
        " 413 ",
        "too large",
    );
    assert_eq!(player.say("( INFO )"), AVAILABLE);
}

#[test]
fn an_answer_to_head_has_no_body() {
    let player = Running::new(options("first"));
    for path in ["/", "/%28info%29", "/nonsense"] {
        let [head, get] = ["HEAD", "GET"].map(|method| {
            exchange(
                player.address,
                format!("{method} {path} HTTP/1.0\r\n\r\n").as_bytes(),
            )
        });
        let (expected, body) = get.split_once("\r\n\r\n").unwrap();
        assert!(!body.is_empty());
        assert_eq!(head, format!("{expected}\r\n\r\n"));
    }
}

#[test]
fn peers_that_do_not_speak_http_are_answered_at_once() {
    let player = Running::new(PlayerOptions {
        idle: Duration::from_secs(60),
        ..options("first")
    });
    // The beginnings of greetings in TLS, SSH and others, and a message without HTTP; each with
    // all its beginnings, after which the peer waits.
    let greetings: [&[u8]; 5] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"\x80\x2e\x01",
        b"( INFO )",
        b"\0\0\0",
        b"hello\r\n",
    ];
    for greeting in greetings {
        for length in 1..=greeting.len() {
            // A word may still become a method.
            if greeting[..length].iter().all(u8::is_ascii_alphabetic) {
                continue;
            }
            let began = Instant::now();
            let mut stream = connect(player.address);
            stream.write_all(&greeting[..length]).unwrap();
            let answer = read(&mut stream);
            assert!(answer.contains(" 400 "), "{answer}");
            assert_eq!(answer.contains("TLS"), greeting[0] == 0x16, "{answer}");
            assert!(began.elapsed() < Duration::from_secs(30));
        }
    }
}

/// The next answer on a persistent connection.
fn next_answer(stream: &mut BufReader<TcpStream>) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(stream.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let length = head.split("Content-length: ").nth(1).unwrap();
    let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    head + std::str::from_utf8(&body).unwrap()
}

#[test]
fn connections_stay_open_on_request() {
    let player = Running::new(options("first"));
    let mut stream = BufReader::new(connect(player.address));
    let send = |stream: &mut BufReader<TcpStream>, text: &str| {
        stream.get_mut().write_all(text.as_bytes()).unwrap();
        next_answer(stream)
    };
    let info = "POST / HTTP/1.1\r\nHost: us\r\nContent-Length: 6\r\n\r\n(INFO)";
    for text in [
        info,
        "\r\nPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n(INFO)\r\n0\r\n\r\n",
        "GET /(INFO) HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.0\r\nConnection: Keep-Alive\r\nContent-Length: 6\r\n\r\n(INFO)",
    ] {
        let answer = send(&mut stream, text);
        assert!(
            answer.contains("\r\nConnection: keep-alive\r\n"),
            "{answer}"
        );
        assert!(answer.ends_with(AVAILABLE), "{answer}");
    }
    // Two requests at once.
    assert!(send(&mut stream, &format!("{info}{info}")).ends_with(AVAILABLE));
    assert!(next_answer(&mut stream).ends_with(AVAILABLE));
    // A request with Expect: 100-continue.
    let stream_head = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n";
    stream.get_mut().write_all(stream_head.as_bytes()).unwrap();
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
    stream.read_line(&mut line).unwrap();
    assert!(send(&mut stream, "(INFO)").ends_with(AVAILABLE));
    let last = "POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 6\r\n\r\n(INFO)";
    let answer = send(&mut stream, last);
    assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_half_closed_connection_still_gets_the_answer() {
    let player = Running::new(options("first"));
    let text = "POST / HTTP/1.0\r\n\r\n(INFO";
    for (rest, expected) in [(")", AVAILABLE), (" ", "brackets do not match")] {
        let mut stream = connect(player.address);
        stream.write_all(text.as_bytes()).unwrap();
        stream.write_all(rest.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(body(&read(&mut stream)), expected);
    }
}

#[test]
fn silent_peers_are_disconnected_and_block_no_one() {
    let player = Running::new(PlayerOptions {
        idle: Duration::from_millis(300),
        ..options("first")
    });
    let mut silent = connect(player.address);
    let mut kept = BufReader::new(connect(player.address));
    let info = b"POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\n(INFO)";
    kept.get_mut().write_all(info).unwrap();
    assert!(next_answer(&mut kept).ends_with(AVAILABLE));
    let mut stuck = connect(player.address);
    stuck
        .write_all(b"POST / HTTP/1.0\r\nContent-Length: 100\r\n\r\n(PLAY")
        .unwrap();
    let address = player.address;
    // One byte at a time, until the player closes the connection.
    let trickling = std::thread::spawn(move || {
        let mut stream = connect(address);
        let mut answer = vec![0; 1000];
        stream
            .set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let mut text = b"POST / HTTP/1.0\r\nX: ".to_vec();
        text.resize(10_000, b'x');
        for byte in text {
            let _ = stream.write_all(&[byte]);
            match stream.read(&mut answer) {
                Ok(length) => return String::from_utf8_lossy(&answer[..length]).into_owned(),
                Err(_) => continue,
            }
        }
        "nobody minds".to_owned()
    });
    assert_eq!(player.say("( INFO )"), AVAILABLE);
    for stream in [&mut silent, &mut stuck] {
        let answer = read(stream);
        assert!(answer.contains(" 408 "), "{answer}");
    }
    assert_eq!(kept.read(&mut [0]).unwrap(), 0);
    let answer = trickling.join().unwrap();
    assert!(answer.contains(" 408 "), "{answer}");
}

#[test]
fn huge_requests_are_rejected() {
    let mut few = options("first");
    few.message.bytes = 100_000;
    let player = Running::new(few);
    let giant = "x".repeat(10_000_000);
    for bytes in [
        format!("POST / HTTP/1.0\r\n\r\n({giant}"),
        format!("POST / HTTP/1.0\r\nX: {giant}"),
        format!("POST / HTTP/1.0\r\nContent-Length: 10000000\r\n\r\n{giant}"),
    ] {
        // The connection may be closed before everything is sent, and the answer lost.
        let mut stream = connect(player.address);
        let sent = stream.write_all(bytes.as_bytes());
        let mut answer = Vec::new();
        let heard = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let is_refused = answer.contains(" 413 ");
        assert!(is_refused || sent.is_err() || heard.is_err(), "{answer}");
    }
    assert_eq!(player.say("( INFO )"), AVAILABLE);
    // The maximum length.
    let rules = format!("{SHOWS} ;{}", "x".repeat(90_000));
    assert_eq!(player.start("m1", "Ann", &rules, (5, 5)), "ready");
}

#[test]
fn many_connections_do_not_lock_hosts_out() {
    let player = Running::new(PlayerOptions {
        connections: 8,
        idle: EVER,
        ..options("first")
    });
    let crowd: Vec<TcpStream> = (0..100).map(|_| connect(player.address)).collect();
    assert_eq!(player.say("( INFO )"), AVAILABLE);
    assert_eq!(player.start("m1", "Ann", SHOWS, (5, 5)), "ready");
    let more: Vec<TcpStream> = (0..100).map(|_| connect(player.address)).collect();
    assert_eq!(player.say("( PLAY m1 NIL )"), "( show Rock )");
    drop((crowd, more));
}
