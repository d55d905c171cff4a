//! Items of an `include!` do not belong to the module.

#[rumpsteak::protocol(Ping)]
mod ping {
    include!("../tests/it/included/rest.rs");

    #[session(C)]
    type Client = Send<S, Ping, Rest>;
}

fn main() {}
