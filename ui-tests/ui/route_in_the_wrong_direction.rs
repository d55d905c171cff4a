//! The client cannot send over a `Receiver`.

#[rumpsteak::protocol(Ping)]
mod ping {
    use rumpsteak::channel::{Receiver, Sender};

    #[derive(Role)]
    struct C(#[route(S)] Receiver<Label>);

    #[derive(Role)]
    struct S(#[route(C)] Sender<Label>);
}
use ping::*;
use rumpsteak::Ended;

async fn client(s: CSession<'_>) -> Ended<'_, C> {
    let (Pong(_), end) = s.send(Ping(1)).await?.receive().await?;
    end.end(())
}

fn main() {}
