//! No item is named `Rest`.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    type Client = Send<S, Ping, Rest>;
}

fn main() {}
