//! A module that a macro makes is verified when it expands.

macro_rules! module {
    ($name:ident, $role:ident, $payload:ty, $then:ident) => {
        #[rumpsteak::protocol(Ping)]
        mod $name {
            #[session($role)]
            type Client = Receive<S, Pong, Send<S, Ping, $then>>;

            struct Ping($payload);
        }
    };
}

module!(ping, C, i32, End);

fn main() {}
