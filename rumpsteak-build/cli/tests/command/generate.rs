//! `generate`: the code of a protocol, and the check that a file holds it.

use crate::common::{Folder, says};

const PING: &str = "global protocol Ping(role c, role s) {\n  ping(i32) from c to s;\n  pong(i32) from s to c;\n}\n";

#[test]
fn prints_what_the_build_generates() {
    let folder = Folder::new("generate-prints").with("ping.scr", PING);
    let run = folder.call("generate ping.scr");
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    says(&run.stdout, "\n\n#[rumpsteak::protocol(Ping)]\n");
    let session =
        "    #[session(C)]\n    pub type CSession = Send<S, Ping, Receive<S, Pong, End>>;\n";
    says(&run.stdout, session);
    let configuration = rumpsteak_build::configure().protocols("ping.scr");
    let codes = configuration.code(folder.path(), &rumpsteak_build::Limits::default());
    let code = codes.unwrap_or_else(|report| panic!("{report}")).remove(0);
    assert_eq!(Some(run.stdout), code.text);
}

#[test]
fn a_file_is_written_once_and_checked() {
    let folder = Folder::new("generate-check").with("ping.scr", PING);
    let missing = folder.call("generate ping.scr -o ping.rs --check");
    assert_eq!(missing.status, Some(1));
    assert!(
        missing.stderr.contains("`ping.rs` does not exist")
            && missing.stderr.contains("run `cargo rumpsteak generate ping.scr --output ping.rs`"),
        "{}",
        missing.stderr
    );
    assert!(!folder.path().join("ping.rs").exists());

    assert_eq!(folder.call("generate ping.scr -o ping.rs").status, Some(0));
    let written = std::fs::metadata(folder.path().join("ping.rs")).and_then(|file| file.modified());
    assert_eq!(folder.call("generate ping.scr -o ping.rs --check").status, Some(0));
    assert_eq!(folder.call("generate ping.scr -o ping.rs").status, Some(0));
    let again = std::fs::metadata(folder.path().join("ping.rs")).and_then(|file| file.modified());
    assert_eq!(written.ok(), again.ok());

    // The protocol moves on.
    let folder = folder.with("ping.scr", PING.replace("pong(i32)", "pong(u8)"));
    let stale = folder.call("generate ping.scr -o ping.rs --check");
    assert_eq!((stale.status, stale.stdout.as_str()), (Some(1), ""));
    for expected in [
        "`ping.rs` is stale: it was generated from another protocol or by another version",
        "-     ///   pong(i32) from s to c;",
        "+     ///   pong(u8) from s to c;",
    ] {
        says(&stale.stderr, expected);
    }

    // A hand changes the code.
    assert_eq!(folder.call("generate ping.scr -o ping.rs").status, Some(0));
    let text = std::fs::read_to_string(folder.path().join("ping.rs")).unwrap();
    let folder = folder.with("ping.rs", text.replace("Receive<S, Pong, End>", "End"));
    let edited = folder.call("generate ping.scr -o ping.rs --check");
    assert_eq!(edited.status, Some(1));
    for expected in [
        "`ping.rs` is stale: it was changed by hand",
        "-     pub type CSession = Send<S, Ping, End>;",
        "+     pub type CSession = Send<S, Ping, Receive<S, Pong, End>>;",
    ] {
        says(&edited.stderr, expected);
    }
}

#[test]
fn an_unsafe_machine_has_no_code() {
    let folder = Folder::new("generate-unsafe")
        .with("ping.scr", PING)
        .with("ping.c.local", "c: s?pong<i32>; s!ping<i32>; end");
    let run = folder.call("generate ping.scr -o ping.rs");
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""));
    for expected in ["unsafe reordering: `", "ping.c.local:1:4", "s waits for ping(i32) from c"] {
        says(&run.stderr, expected);
    }
    assert!(!folder.path().join("ping.rs").exists());
}

#[test]
fn calls_that_cannot_be_answered() {
    let other = PING.replace("Ping", "Pong");
    let folder = Folder::new("generate-calls")
        .with("two.scr", format!("{PING}{other}"))
        .with("bad.scr", "global protocol P(role a) { m() form a to a; }")
        .with("int.scr", PING.replace("i32", "int"));
    for (line, status, expected) in [
        ("generate two.scr", 2, "say which one with `--protocol`"),
        ("generate two.scr --protocol Pang", 2, "did you mean `P"),
        ("generate none.scr", 2, "cannot read the protocols"),
        ("generate bad.scr", 2, "m() form a to a;"),
        ("generate -", 2, "name the file instead of standard input"),
        ("generate two.scr --protocol Ping --check", 2, "--output"),
        ("generate int.scr", 1, "no Rust type is declared for `int`"),
        ("generate two.scr --protocol Ping -o none/ping.rs", 2, "cannot write `none/ping.rs`"),
    ] {
        let run = folder.call(line);
        assert_eq!((run.status, run.stdout.as_str()), (Some(status), ""), "{line}: {}", run.stderr);
        says(&run.stderr, expected);
    }
    let one = folder.call("generate two.scr --protocol Pong");
    says(&one.stdout, "\n#[rumpsteak::protocol(Pong)]\n");
}

/// A `par` in which each role waits for the other, although each order alone is allowed.
const IDENT: &str = "global protocol Ident(role client, role server) {
    par { clientVersion(String) from client to server; } and { serverVersion(String) from server to client; }
    par { clientKexInit(String) from client to server; } and { serverKexInit(String) from server to client; }
}
";
const CLIENT: &str = "client: server?serverVersion<String>; server!clientVersion<String>; server?serverKexInit<String>; server!clientKexInit<String>; end\n";
const SERVER: &str = "server: client?clientVersion<String>; client!serverVersion<String>; client?clientKexInit<String>; client!serverKexInit<String>; end\n";
const FIX: &str = "client: server!clientVersion<String>; server!clientKexInit<String>; server?serverVersion<String>; server?serverKexInit<String>; end\n";

#[test]
fn machines_that_are_safe_alone_and_not_together_are_refused_by_their_names() {
    let folder = Folder::new("generate-jointly").with("ident.scr", IDENT);
    let folder = folder.with("ident.client.local", CLIENT);
    folder.call("generate ident.scr").exits(0).says("");
    let folder = folder.with("ident.server.local", SERVER);
    let run = folder.call("generate ident.scr").exits(1).prints("");
    says(&run.stderr, "error[V0412]: unsafe order: `");
    for file in ["ident.client.local", "ident.server.local"] {
        says(&run.stderr, file);
    }
    says(&run.stderr, "client: server?serverVersion<String>; server!clientVersion<String>;");
    says(&run.stderr, "server waits for clientVersion(String) from client\n");
    says(&run.stderr, "no role can move\n");

    let folder = folder.with("ident.client.local", FIX);
    folder.call("generate ident.scr").exits(0).says("");
    folder.call("subtype ident.client.local ident.scr --role client").exits(0);

    // As above, with a third role.
    let protocol = "global protocol P(role a, role b, role c) {
  par { x() from a to c; } and { y() from b to c; k() from c to b; l() from b to a; }
}
";
    let folder = Folder::new("generate-three").with("p.scr", protocol);
    let folder = folder.with("p.a.local", "a: b?l; c!x; end\n");
    folder.call("generate p.scr").exits(0);
    let folder = folder.with("p.c.local", "c: a?x; b?y; b!k; end\n");
    let run = folder.call("generate p.scr").exits(1).prints("");
    says(&run.stderr, "p.a.local");
    says(&run.stderr, "p.c.local");
    says(&run.stderr, "no role can move\n");
}

#[test]
fn a_process_to_fill_in_follows_the_session_of_its_role() {
    // RFC 1034: the upstream is asked if the cache misses.
    let protocol = "global protocol Dns(role stub, role resolver, role upstream) {
      rec Query {
        query(String, u16) from stub to resolver;
        choice at resolver { answer(String) from resolver to stub; continue Query; }
        or { query(String, u16) from resolver to upstream; answer(String) from upstream to resolver;
             answer(String) from resolver to stub; continue Query; }
        or { close() from resolver to stub; close() from resolver to upstream; }
      }
    }";
    let folder = Folder::new("skeleton").with("dns.scr", protocol);
    folder.call("skeleton dns.scr --role resolver").exits(0).says("").prints(
        "\
async fn resolver(s: ResolverSession<'_>) -> Ended<'_, Resolver> {
    let mut resolver_session = s;
    'resolver_session: loop {
        let s = resolver_session;
        let (Query(value1, value2), s) = s.receive().await?;
        let option: usize = todo!(\"choose one of `Answer`, `Query` and `Close`\");
        match option {
            0 => {
                let s = s.select::<Stub, _>(Answer(todo!())).await?;
                resolver_session = s;
                continue 'resolver_session;
            }
            1 => {
                let s = s.select::<Upstream, _>(Query(todo!(), todo!())).await?;
                let (Answer(value), s) = s.receive().await?;
                let s = s.send(Answer(todo!())).await?;
                resolver_session = s;
                continue 'resolver_session;
            }
            _ => {
                let s = s.select::<Stub, _>(Close).await?;
                let s = s.send(Close).await?;
                return s.end(());
            }
        }
    }
}
",
    );
    let program = folder.call("skeleton dns.scr").exits(0);
    says(&program.stdout, "    Roles::default().run(stub, resolver, upstream).await?;\n");
    let unknown = folder.call("skeleton dns.scr --role resolvr").exits(2);
    says(&unknown.stderr, "did you mean `resolver`?");
}
