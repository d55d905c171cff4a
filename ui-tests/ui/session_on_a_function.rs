//! `#[session]` belongs on types.

#[rumpsteak::protocol(Ping)]
mod ping {
    #[session(C)]
    fn client() {}
}

fn main() {}
