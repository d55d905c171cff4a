//! A session continues as an item that a macro of the module makes.

#[rumpsteak::protocol(Ping)]
mod ping {
    macro_rules! rest {
        () => {
            pub type Rest<'s, R> = rumpsteak::states::End<'s, R>;
        };
    }

    rest!();

    #[session(C)]
    type Client = Send<S, Ping, Rest>;
}

fn main() {}
