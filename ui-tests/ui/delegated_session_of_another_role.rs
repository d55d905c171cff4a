//! A session of another role changes hands than the protocol says.

use rumpsteak::{Channel, Detached, Message, Role, session};

#[derive(Role)]
#[protocol(Portal::user)]
#[message(Label)]
struct User(#[route(Portal)] Channel<Label>);

#[derive(Role)]
#[protocol(Portal::portal)]
#[message(Label)]
struct Portal(#[route(User)] Channel<Label>);

#[derive(Message)]
enum Label {
    Name(Name),
    Ask(Ask),
    Answer(Answer),
    Quit(Quit),
}

struct Name(String);
struct Ask(u64);
struct Answer(u64);
struct Quit;

#[session(User)]
type Using = Send<Portal, Name, Select<Portal, Asking>>;

#[session]
enum Asking {
    Ask(Ask, Receive<Portal, Answer, Select<Portal, Asking>>),
    Quit(Quit, End),
}

#[derive(Role)]
#[protocol(Hire::portal)]
#[message(Contract)]
struct Giver(#[route(Server)] Channel<Contract>);

#[derive(Role)]
#[protocol(Hire::server)]
#[message(Contract)]
struct Server(#[route(Giver)] Channel<Contract>);

#[derive(Message)]
enum Contract {
    Job(Job),
    Taken(Taken),
}

struct Job(Detached<Using<'static>>);
struct Taken;

#[session(Giver)]
type Give = Send<Server, Job, Receive<Server, Taken, End>>;

fn main() {}
