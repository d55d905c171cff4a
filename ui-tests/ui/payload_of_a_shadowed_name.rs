//! The `.scr` file says `std::rc::Rc<str>`, and this `Rc` is another type.

pub struct Rc<T: ?Sized>(Box<T>);

#[rumpsteak::protocol(Handover)]
mod handover {
    use super::Rc;

    struct Gift(Rc<str>);
}

fn main() {}
