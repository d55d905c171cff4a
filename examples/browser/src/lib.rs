//! The user of `applications/portal.rs`, as a page: see `page.html`.

use std::error::Error as StdError;
use std::iter::successors;
use std::time::Duration;

use futures::future::try_join;
use rumpsteak::{Error, try_run};
use rumpsteak_net::transport::{Transports, WebSocket};
use rumpsteak_net::{Host, Limits};
use wasm_bindgen::prelude::wasm_bindgen;

#[rumpsteak::protocol(
    Portal,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod portal {}

use portal::*;

type Failure = Box<dyn StdError>;

/// The numbers below this one go to the servers.
const NUMBERS: u64 = 1_000;

/// Uses both applications of the portal at this address at once. A token is shown to the portal and
/// to the servers.
#[wasm_bindgen]
pub async fn user(portal: String, token: Option<String>) -> Result<String, String> {
    let socket = WebSocket::default();
    let socket = token.into_iter().fold(socket, |socket, token| socket.with_token(token));
    let transports = Transports::default().with("ws", socket);
    let limits = Limits::default().join(Duration::from_secs(5)).resume(Duration::from_secs(2));
    let host = Host::with(transports, limits);
    match try_join(ask(&host, &portal), add(&host, &portal)).await {
        Ok((squares, sum)) => Ok(summary(sum, squares)),
        Err(error) => Err(texts(&*error)),
    }
}

/// Chooses squares. Returns the sum of the answers.
async fn ask(host: &Host, portal: &str) -> Result<u64, Failure> {
    let mut joined = host.join::<User>("squares").peer("portal", [portal]).connect().await?;
    let sum = try_run(&mut joined.role, async |session: UserSession<'_>| {
        let session = session.send(Login("Ada".to_owned())).await?;
        let mut session = session.select(Squares).await?;
        let mut sum = 0;
        for number in 0..NUMBERS {
            let (Answer(square), next) = session.select(Ask(number)).await?.receive().await?;
            sum += square;
            session = next;
        }
        Ok::<_, Error>((sum, session.select(Logout).await?))
    })
    .await?;
    joined.leave().await?;
    Ok(sum)
}

/// Chooses sums. Returns the sum of the numbers.
async fn add(host: &Host, portal: &str) -> Result<u64, Failure> {
    let mut joined = host.join::<User>("sums").peer("portal", [portal]).connect().await?;
    let sum = try_run(&mut joined.role, async |session: UserSession<'_>| {
        let session = session.send(Login("Ada".to_owned())).await?;
        let mut session = session.select(Sums).await?;
        for number in 0..NUMBERS {
            session = session.select(Add(number)).await?;
        }
        let (Sum(sum), end) = session.select(Total).await?.receive().await?;
        Ok::<_, Error>((sum, end))
    })
    .await?;
    joined.leave().await?;
    Ok(sum)
}

fn summary(sum: u64, squares: u64) -> String {
    format!("the numbers up to {} are {sum} in all, their squares {squares}", NUMBERS - 1)
}

/// The texts of an error and of its causes.
fn texts(error: &(dyn StdError + 'static)) -> String {
    let causes = successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn print(text: &str);
}

/// A panic is printed on the console of the browser.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| print(&panic.to_string())));
}
