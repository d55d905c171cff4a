//! A closed system declares its labels.

#[rumpsteak::closed_system]
mod system {
    #[session(Asker)]
    type Asking = Send<Answerer, Question, Receive<Answerer, Answer, End>>;

    #[session(Answerer)]
    type Answering = Receive<Asker, Question, Send<Asker, Answer, End>>;

    struct Question;
}
use system::*;

pub fn ask() -> (Question, Answer) {
    (Question, Answer)
}

fn main() {}
