//! An option names a peer that says something else.

use rumpsteak::{Channel, Message, Role, session};

#[derive(Role)]
#[protocol(Either::c)]
#[message(Label)]
struct Ear {
    #[route(Left)]
    a: Channel<Label>,
    #[route(Right)]
    b: Channel<Label>,
    #[route(Chief)]
    d: Channel<Label>,
}

#[derive(Role)]
#[protocol(Either::a)]
#[message(Label)]
struct Left(#[route(Ear)] Channel<Label>, #[route(Chief)] Channel<Label>);

#[derive(Role)]
#[protocol(Either::b)]
#[message(Label)]
struct Right(#[route(Ear)] Channel<Label>, #[route(Chief)] Channel<Label>);

#[derive(Role)]
#[protocol(Either::d)]
#[message(Label)]
struct Chief(
    #[route(Left)] Channel<Label>,
    #[route(Right)] Channel<Label>,
    #[route(Ear)] Channel<Label>,
);

#[derive(Message)]
enum Label {
    Go(Go),
    Stop(Stop),
    Answer(Answer),
    Done(Done),
}

struct Go;
struct Stop;
struct Answer;
struct Done;

#[session(Left)]
type OfLeft = Branch<Chief, May>;

#[session(Right)]
type OfRight = Branch<Chief, May>;

#[session]
enum May {
    Go(Go, Send<Ear, Answer, End>),
    Stop(Stop, End),
}

#[session(Chief)]
type OfChief = Select<Who>;

#[session]
enum Who {
    Left(Send<Left, Go, Send<Right, Stop, Receive<Ear, Done, End>>>),
    Right(Send<Right, Go, Send<Left, Stop, Receive<Ear, Done, End>>>),
}

#[session(Ear)]
type Hears = Branch<First>;

#[session]
enum First {
    Left(Receive<Left, Answer, Send<Chief, Done, End>>),
    Right(Receive<Chief, Answer, Send<Chief, Done, End>>),
}

fn main() {}
