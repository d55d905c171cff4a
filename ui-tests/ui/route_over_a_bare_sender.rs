//! A sender alone has no mark.

#[rumpsteak::protocol(Ping)]
mod ping {
    use futures::channel::mpsc::UnboundedSender;

    #[derive(Role)]
    struct C(#[route(S)] UnboundedSender<Label>);
}

fn main() {}
