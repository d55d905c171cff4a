//! A macro of the module makes an item of a name that the module has.

#[rumpsteak::protocol(Ping)]
mod ping {
    macro_rules! role {
        ($name:ident) => {
            pub struct $name;
        };
    }

    role!(C);
}

fn main() {}
