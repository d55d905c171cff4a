//! A macro of the module makes an item with the name of another item.

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
