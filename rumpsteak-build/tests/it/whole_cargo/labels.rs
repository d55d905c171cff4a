//! Protocols of RFCs as they are: one label with several payloads (POP3, SOCKS5, NNTP), a recursion
//! that is done once, sorts for several languages, and auxiliary protocols of one name.

use super::programs::printed;

/// The files beside each other: both have a protocol `Auth`, and one of them can be played.
pub(super) const PROTOCOLS: [(&str, &str); 2] = [
    (
        "mail",
        "type <java> \"java.lang.Integer\" from \"rt.jar\" as count;
type <rust> \"u32\" from \"std\" as count;

global protocol Pop3(role client, role server) {
  ok(String) from server to client;
  do Auth(client, server);
  rec next {
    choice at client { stat() from client to server; ok(count, count) from server to client; continue next; }
    or { noop() from client to server; ok() from server to client; continue next; }
    or { quit() from client to server; ok(String) from server to client; }
  }
}
aux global protocol Auth(role c, role s) { rec tries { user(String) from c to s; ok() from s to c; } }
",
    ),
    (
        "socks",
        "global protocol Auth(role client, role proxy) {
  methods(u8) from client to proxy;
  reply(u8) from proxy to client;
  connect_to(String, u16) from client to proxy;
  reply(u8, String, u16) from proxy to client;
}
global protocol Nntp(role client, role server) {
  rec next {
    choice at client { article(u64) from client to server; }
    or { by_id() from client to server; article(String) from client to server; }
    or { current() from client to server; article() from client to server; }
    text(String) from server to client;
    continue next;
  }
}
",
    ),
];

pub(super) const PROGRAM: &str = r#"
#![deny(warnings, clippy::all)]
use rumpsteak::{Error, Result, join, try_run};

#[rumpsteak::protocol(Pop3)]
mod pop3 {}
#[rumpsteak::protocol(Auth)]
mod auth {}
#[rumpsteak::protocol(Nntp)]
pub mod nntp {}

fn mail() -> Result<(u32, String)> {
    use pop3::*;
    let Roles { mut client, mut server } = Roles::default();
    let client = try_run(&mut client, async |s: ClientSession<'_>| {
        let (OkMessage(_), s) = s.receive().await?;
        let (OkEmpty, s) = s.send(User("me".to_owned())).await?.receive().await?;
        let (OkCountCount(_, octets), s) = s.select(Stat).await?.receive().await?;
        let (OkEmpty, s) = s.select(Noop).await?.receive().await?;
        let (OkMessage(bye), end) = s.select(Quit).await?.receive().await?;
        Ok::<_, Error>(((octets, bye), end))
    });
    let server = try_run(&mut server, async |s: ServerSession<'_>| {
        let (User(name), s) = s.send(OkMessage("ready".to_owned())).await?.receive().await?;
        let mut s = s.send(OkEmpty).await?;
        loop {
            s = match s.branch().await? {
                ServerStatChoice::Stat(Stat, s) => s.send(OkCountCount(2, 320)).await?,
                ServerStatChoice::Noop(Noop, s) => s.send(OkEmpty).await?,
                ServerStatChoice::Quit(Quit, s) => {
                    return Ok::<_, Error>(((), s.send(OkMessage(format!("bye, {name}"))).await?));
                }
            };
        }
    });
    let (stat, server) = block_on(join((client, server)));
    server.and(stat)
}

fn socks() -> Result<u16> {
    use auth::*;
    let Roles { mut client, mut proxy } = Roles::default();
    let client = try_run(&mut client, async |s: ClientSession<'_>| {
        let (Reply(_), s) = s.send(Methods(0)).await?.receive().await?;
        let s = s.send(ConnectTo("localhost".to_owned(), 80)).await?;
        let (ReplyU8StringU16(_, _, port), end) = s.receive().await?;
        Ok::<_, Error>((port, end))
    });
    let proxy = try_run(&mut proxy, async |s: ProxySession<'_>| {
        let (Methods(method), s) = s.receive().await?;
        let (ConnectTo(host, port), s) = s.send(Reply(method)).await?.receive().await?;
        Ok::<_, Error>(((), s.send(ReplyU8StringU16(0, host, port + 1)).await?))
    });
    let (port, proxy) = block_on(join((client, proxy)));
    proxy.and(port)
}

fn main() {
    println!("{:?} {:?}", mail().unwrap(), socks().unwrap());
}
"#;

#[test]
fn one_label_may_have_several_payloads() {
    assert_eq!(printed("labels"), "(320, \"bye, me\") 81\n");
}
