//! The page in headless Chromium, against the servers of the portal and against worse ones.

#![cfg(not(target_family = "wasm"))]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test an unwrap is an assertion")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{env, fs};

use rumpsteak::{Error, ErrorKind, try_run};
use rumpsteak_browser::portal::*;
use rumpsteak_net::transport::{Transports, WebSocket};
use rumpsteak_net::{Host, Joined, Limits};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// The page shows its result in the text of an element. One page has a frame for each test.
const FRAMES: &str = r#"<!doctype html><body><script>
    for (const [name, query] of new URLSearchParams(location.search)) {
        const frame = document.createElement("iframe");
        const tell = (text) => fetch(`/told/${name}`, { method: "POST", body: text });
        frame.src = `page.html?${query}`;
        document.body.append(frame);
        const look = setInterval(() => {
            const text = frame.contentDocument?.getElementById("result")?.textContent;
            if (text) { clearInterval(look); tell(text); }
        }, 50);
        if (name === "closed") {
            fetch("/close").then(() => { clearInterval(look); frame.remove(); tell("closed"); });
        }
    }
</script>"#;

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(program: impl AsRef<Path>, arguments: &[&str]) -> Process {
    let mut command = Command::new(program.as_ref());
    command.args(arguments).stderr(Stdio::null());
    Process(command.spawn().unwrap())
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            env::temp_dir().join(format!("rumpsteak-browser-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// Plays a role of the application, which writes its address here.
    async fn play(&self, role: &str, patience: &str) -> (Process, String) {
        let test = env::current_exe().unwrap();
        let program = test.ancestors().nth(2).unwrap().join("examples/portal");
        let build = "cargo build -p rumpsteak-examples --example portal";
        assert!(program.exists(), "first: {build}");
        let folder = self.0.to_str().unwrap();
        let arguments =
            ["--transport", "ws", "--role", role, "--folder", folder, "--patience", patience];
        let process = start(program, &arguments);
        let address = self.0.join(format!("{role}.address"));
        while !address.exists() {
            sleep(Duration::from_millis(10)).await;
        }
        (process, fs::read_to_string(address).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compiles the page, and writes `browser.js` and `browser_bg.wasm` to the folder.
fn compile(folder: &Path) {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--lib", "--target", "wasm32-unknown-unknown"])
        .args(["--message-format", "json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success());
    let messages = String::from_utf8(output.stdout).unwrap();
    let ends = |end: &&str| end.ends_with("rumpsteak_browser.wasm");
    let module = messages.split('"').find(ends).expect("Cargo names the module");
    let status = Command::new(env!("CARGO"))
        .args(["run", "--locked", "--quiet", "-p", "rumpsteak-bindgen", "--", module])
        .arg(folder)
        .status();
    assert!(status.unwrap().success());
}

/// The results that the frames tell, and the signal to close one of them.
#[derive(Default)]
struct Web {
    told: Mutex<BTreeMap<String, String>>,
    news: Notify,
    close: Notify,
}

impl Web {
    async fn told(&self, name: &str) -> String {
        loop {
            let news = self.news.notified();
            if let Some(text) = self.told.lock().unwrap().get(name) {
                return text.clone();
            }
            news.await;
        }
    }

    /// Answers one request.
    async fn answer(&self, mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8(head).unwrap();
        let path = head.split([' ', '?']).nth(1).unwrap();
        let mut answer = Vec::new();
        if let Some(name) = path.strip_prefix("/told/") {
            let head = head.to_ascii_lowercase();
            let size = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let mut body = vec![0; size.parse().unwrap()];
            stream.read_exact(&mut body).await?;
            let body = String::from_utf8(body).unwrap();
            self.told.lock().unwrap().insert(name.to_owned(), body);
            self.news.notify_waiters();
        } else if path == "/close" {
            self.close.notified().await;
        } else if path == "/" {
            answer = FRAMES.into();
        } else if path == "/page.html" {
            answer = include_bytes!("../page.html").into();
        } else {
            answer = fs::read(folder.join(&path[1..])).unwrap_or_default();
        }
        let kind = match Path::new(path).extension().and_then(|it| it.to_str()) {
            Some("js") => "text/javascript",
            Some("wasm") => "application/wasm",
            _ => "text/html",
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            answer.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&answer).await
    }
}

/// A host that admits the users with one token.
fn guarded() -> Host {
    let admits = |token: &str, protocol: &str, role: &str| {
        (token, protocol, role) == ("the right one", "Portal", "user")
    };
    let transports = Transports::default().with("ws", WebSocket::default().admitting(admits));
    Host::with(transports, Limits::default().resume(Duration::from_secs(1)))
}

/// Lets the page close when the user waits for an answer. Returns the error of the session.
async fn left_alone(host: &Host, web: &Web) -> Error {
    let mut sessions = host.serve::<Portal>();
    loop {
        let join = sessions.next().await.unwrap();
        if join.session() != "squares" {
            continue;
        }
        let mut joined: Joined<Portal> = join.connect().await.unwrap();
        let left = try_run(&mut joined.role, async |session: PortalSession<'_>| {
            let (Login(name), session) = session.receive().await?;
            assert_eq!(name, "Ada");
            let PortalSquaresChoice::Squares(Squares, session) = session.branch().await? else {
                panic!("the session is for squares");
            };
            let PortalAskChoice::Ask(Ask(0), session) = session.branch().await? else {
                panic!("the first number is 0");
            };
            web.close.notify_one();
            assert_eq!(web.told("closed").await, "closed");
            match session.send(Answer(0)).await?.branch().await? {
                PortalAskChoice::Ask(..) => panic!("the page is closed"),
                PortalAskChoice::Logout(Logout, end) => Ok::<_, Error>(((), end)),
            }
        });
        return left.await.unwrap_err();
    }
}

#[test]
fn the_guide_shows_this_page() {
    let guide = include_str!("../../../rumpsteak-runtime/net/guide/browser.md");
    let (_, block) = guide.split_once("```rust,ignore\n").unwrap();
    let (block, rest) = block.split_once("```").unwrap();
    assert!(include_str!("../src/lib.rs").contains(block), "{block}");
    assert!(!rest.contains("```rust"), "a second block");
    let (_, script) = rest.split_once("```html\n").unwrap();
    let (script, _) = script.split_once("```").unwrap();
    let page = include_str!("../page.html");
    let differ = script.lines().filter(|line| !page.contains(line.trim()));
    assert_eq!(differ.collect::<Vec<_>>(), ["  console.log(await user(\"ws://127.0.0.1:4000\"));"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs chromium and the target wasm32-unknown-unknown"]
async fn a_page_plays_a_role() {
    let [folder, served, alone] = ["page", "served", "alone"].map(Folder::new);
    compile(&folder.0);
    let web = Arc::new(Web::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let page = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn({
        let (web, folder) = (Arc::clone(&web), folder.0.clone());
        async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (web, folder) = (Arc::clone(&web), folder.clone());
                tokio::spawn(async move { web.answer(stream, &folder).await });
            }
        }
    });

    let (squares, _) = served.play("squares", "10000").await;
    let (sums, _) = served.play("sums", "10000").await;
    let (portal, at_portal) = served.play("portal", "10000").await;
    // Without the servers, this portal keeps its users waiting.
    let (dies, at_dying) = alone.play("portal", "20000").await;
    let guarded = guarded();
    let at_guarded = guarded.listen("ws://127.0.0.1:0").await.unwrap().to_string();
    let absent = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();

    let frames = [
        ("served", format!("portal={at_portal}")),
        ("dying", format!("portal={at_dying}")),
        ("closed", format!("portal={at_guarded}&token=the right one")),
        ("wrong", format!("portal={at_guarded}&token=a wrong one")),
        ("none", format!("portal={at_guarded}")),
        ("absent", format!("portal=ws://{absent}")),
        ("invalid", "portal=ws://127.0.0.1:99999".to_owned()),
        ("tcp", "portal=tcp://127.0.0.1:9".to_owned()),
    ];
    let escaped = |text: &str| text.replace('&', "%26").replace(' ', "%2520");
    let query: Vec<_> = frames.iter().map(|(name, it)| format!("{name}={}", escaped(it))).collect();
    let data = format!("--user-data-dir={}", folder.0.join("data").display());
    let page = format!("{page}?{}", query.join("&"));
    let chromium = env::var("CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
    let arguments = ["--headless", "--no-sandbox", "--disable-gpu", &data, &page];
    let _chromium = start(chromium, &arguments);

    let checks = async {
        let lost = left_alone(&guarded, &web).await;
        assert!(matches!(lost.kind(), ErrorKind::Transport { .. }), "{lost:?}");
        let expected = "the numbers up to 999 are 499500 in all, their squares 332833500";
        assert_eq!(web.told("served").await, expected);
        drop(dies);
        for (name, why) in [
            // Lost, or on a slow machine too late for the second session: either names the peer.
            ("dying", "`portal`"),
            ("wrong", "was refused: the certificate or the token of one end is not for the role"),
            // A browser does not tell a page that a server refused it.
            ("none", "waits for `portal` in the session"),
            ("absent", "waits for `portal` in the session"),
            ("invalid", "ws://127.0.0.1:99999"),
            ("tcp", "no transport is known for tcp://127.0.0.1:9"),
        ] {
            let told = web.told(name).await;
            assert!(told.starts_with("error: ") && told.contains(why), "{name}: {told}");
        }
        for mut server in [portal, squares, sums] {
            assert!(server.0.wait().unwrap().success());
        }
    };
    timeout(Duration::from_secs(120), checks).await.expect("the page answers");
}
