//! The part of a role that only its sessions use, and the counting of sessions.

use std::any::Any;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Poll, Waker};

use crate::error::ErrorKind;
use crate::transport::link::{Link, Movable};
use crate::transport::mark::Mark;

/// The part of a role that only its sessions use. The macro of its module implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a role",
    label = "not a role: the result of a process is `Ended<'_, Role, Value>`",
    note = "a role is a struct of a module with `#[protocol(…)]` or `#[closed_system]`; if `{Self}` is a \
            parameter, name a role in its place; if it only has the name of a role, name the role by its path: `module::Name`"
)]
pub trait Participant: Sized + 'static {
    /// `Self`: with it, rustc says once, at [`Ended`](crate::Ended), that a type is not a role.
    type Itself;

    /// The number of routes.
    const ROUTES: usize;

    /// The peer that limits the role to one session over its routes, if there is one.
    const ONCE: Option<&'static str>;

    /// The part of a state that owns the role: `()`, unless the role is [`Held`](crate::Held).
    type Owned: Unpin;

    /// The value of a state that does not own the role.
    const NOT_OWNED: Self::Owned;

    /// Returns the role if the state owns it.
    #[inline(always)]
    fn owned(_: &mut Self::Owned) -> Option<&mut Self> {
        None
    }

    /// Calls `visit` for each route in the order of the fields, with the name of the peer's struct
    /// and the route's mark.
    fn for_each_mark<'a>(&'a self, visit: impl FnMut(&'static str, &'a Mark));

    /// Returns the error of the first route with less room than it declares, or with another number
    /// of members than the protocol fixes.
    #[inline]
    fn unfit(&self) -> Option<ErrorKind> {
        None
    }

    /// Begins the next session on all routes: [`Link::poll_begin`].
    fn poll_begin(&mut self, waker: &Waker) -> Poll<()>;

    /// Ends a session on all routes.
    fn complete(&mut self);

    /// Closes all routes.
    fn close(&mut self);
}

/// Compares the capacity of a route with its declaration, before the first session over it.
pub fn undersized<M: 'static, L: Link>(
    link: &L,
    [role, peer]: [&'static str; 2],
    declared: usize,
) -> Option<ErrorKind> {
    let is_new = link.mark().completed() == 0;
    let capacity = link.capacity::<M>().filter(|&capacity| is_new && capacity < declared)?;
    Some(ErrorKind::SmallQueue { role, peer, declared, capacity })
}

/// Compares the number of members that a route leads to with the number in the protocol or the set.
#[inline]
pub fn other_number<L: Link>(
    link: &L,
    [role, peer]: [&'static str; 2],
    fixed: usize,
) -> Option<ErrorKind> {
    let members = L::MEMBERS.map_or(1, |number| number(link));
    (members != fixed).then_some(ErrorKind::Members { role, peer, fixed, members })
}

/// Begins the next session on a route if both ends count the same sessions. A role that drops what
/// comes too late waits until the peer has ended the last one, too. `others` is the result for the
/// other routes.
#[inline]
pub fn poll_begin<M: 'static, L: Link>(
    link: &mut L,
    [counts, drops]: [bool; 2],
    waker: &Waker,
    others: Poll<()>,
) -> Poll<()> {
    let sessions = link.mark().completed();
    if drops && sessions > 0 && link.poll_end::<M>(sessions, waker).is_pending()
        || counts && link.poll_begin::<M>(sessions, waker).is_pending()
    {
        return Poll::Pending;
    }
    others
}

/// Ends a session on a route. `counts` is true if both ends count the same sessions, `drops` if the
/// role drops what comes too late, and `tells` if the peer does.
#[inline]
pub fn complete<M: 'static, L: Link>(link: &mut L, [counts, drops, tells]: [bool; 3]) {
    let sessions = link.mark().complete();
    if tells {
        link.end::<M>(sessions);
    }
    if counts && !drops {
        link.complete::<M>(sessions);
    }
}

/// An error if an end could receive what belongs to another session; `drops` as in [`poll_begin`].
#[inline]
pub fn confusable<M: 'static, L: Link>(
    link: &L,
    [role, peer]: [&'static str; 2],
    drops: bool,
) -> Option<ErrorKind> {
    let is_apart = link.keeps_sessions_apart::<M>() && (L::TELLS_ENDS || !drops);
    (!is_apart && link.mark().completed() > 0).then_some(ErrorKind::SecondSession { role, peer })
}

/// Returns true if the role can run no further session over its routes.
#[inline]
pub(crate) fn is_used_up<R: Participant>(role: &R) -> bool {
    R::ONCE.is_some() && session(role).1 > 0
}

/// A role whose routes can be moved out in the middle of a session. The macro implements it.
///
/// The parameter has no meaning. Without it, rustc demands [`Movable`] routes of all roles.
pub trait Leaves<T>: Participant {
    /// Moves the role's routes out, as a role of their own.
    fn take(&mut self) -> Self;

    /// Calls `visit` for each route in the order of the fields.
    fn into_routes(self, visit: impl FnMut(Box<dyn Any>));
}

/// [`Movable`] with a parameter, as in [`Leaves`].
pub trait Moves<T>: Sized {
    /// [`Movable::take`].
    fn take(&mut self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<L: Movable, T> Moves<T> for L {
    fn take(&mut self) -> Self {
        Movable::take(self)
    }
}

/// A route that is not where its set put it: the struct of the peer that its field is for, and the
/// role and peer of the route, or `None` if the route belongs to this field of another set.
type Misplaced = (&'static str, Option<(&'static str, &'static str)>);

/// Returns true if the role is neither in a session, nor poisoned, nor watched.
#[inline]
pub(crate) fn is_plain<R: Participant>(role: &R) -> bool {
    let mut state = 0;
    role.for_each_mark(|_, mark| state |= mark.state());
    state == 0
}

/// Numbers a member by its index in the family. Used by the macro.
pub fn numbered<R: Participant>(member: R, index: usize) -> R {
    let number = u16::try_from(index + 1).unwrap_or_default();
    member.for_each_mark(|_, mark| mark.member.store(number, Relaxed));
    member
}

/// The number of the role's set.
pub(crate) fn set<R: Participant>(role: &R) -> Option<usize> {
    let mut set = None;
    role.for_each_mark(|_, mark| set = set.or(mark.place().map(|(set, _)| set)));
    set
}

/// The number of the role's set, and the number of a member, if the role is watched.
pub(crate) fn watched<R: Participant>(role: &R) -> Option<(usize, u16)> {
    let mut member = None;
    role.for_each_mark(|_, mark| member = member.or(mark.watched_member()));
    set(role).zip(member)
}

/// The session of the role: the number of its set, and of the sessions before. All have the same.
pub(crate) fn session<R: Participant>(role: &R) -> (usize, usize) {
    let mut completed = 0;
    role.for_each_mark(|_, mark| completed = completed.max(mark.completed()));
    // Sets of roles that join one by one are counted down.
    (set(role).map_or(0, |set| set.min(!set)), completed)
}

/// Returns the first route that is not where its set put it: routes of one type can be exchanged.
/// Routes that were made by hand have no place.
#[inline]
pub(crate) fn misplaced<R: Participant>(role: &R) -> Option<Misplaced> {
    let (mut first, mut index, mut misplaced) = (None, 0, None);
    role.for_each_mark(|route, mark| {
        if let Some((set, place)) = mark.place() {
            let is_here = place.is_of::<R>() && place.index == index;
            if !is_here || *first.get_or_insert(set) != set {
                misplaced.get_or_insert((route, (!is_here).then_some((place.role, place.peer))));
            }
        }
        index += 1;
    });
    misplaced
}
