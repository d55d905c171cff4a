//! Types into machines, without recursion: the text may nest as deep as it likes.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use crate::{
    machine::{Action, Direction, Fsm, Message},
    text::{
        error::SpannedMessage,
        lexer::{Kind, Lexer},
        named::Named,
    },
};

/// What the only machine of a binary type is called.
pub(super) const BINARY_ROLE: &str = "self";
/// What the peer of a binary type is called.
pub(super) const BINARY_PEER: &str = "peer";

/// `A: type B: type …`
pub(in crate::text) fn parse_local(source: &str) -> Result<Vec<Named>, SpannedMessage> {
    let mut lexer = Lexer::new(source);
    let mut machines = vec![];
    let mut known = HashSet::new();
    while !at_end(&mut lexer)? {
        let (role, span) = lexer.name("a participant, as in `A: B!a; end`")?;
        lexer.expect(':', "after the participant, as in `A: B!a; end`")?;
        if !known.insert(role) {
            let message =
                format!("the participant `{role}` is defined twice; leave one of the two");
            return Err(SpannedMessage::new(span, message));
        }
        machines.push(Tree::parse(&mut lexer, true)?.machine(role)?);
    }
    Ok(machines)
}

/// One type without participants.
pub(in crate::text) fn parse_binary(source: &str) -> Result<Vec<Named>, SpannedMessage> {
    let mut lexer = Lexer::new(source);
    let tree = Tree::parse(&mut lexer, false)?;
    if !at_end(&mut lexer)? {
        let message = "expected the end of the type; a file holds one";
        return Err(SpannedMessage::new(lexer.next()?.span, message));
    }
    Ok(vec![tree.machine(BINARY_ROLE)?])
}

fn at_end(lexer: &mut Lexer<'_>) -> Result<bool, SpannedMessage> {
    skip_roles(lexer)?;
    Ok(lexer.peek()?.kind == Kind::End)
}

/// `--@role` is a comment here.
fn skip_roles(lexer: &mut Lexer<'_>) -> Result<(), SpannedMessage> {
    while let Kind::Role(_) = lexer.peek()?.kind {
        lexer.next()?;
    }
    Ok(())
}

/// A place in a [`Tree`].
type Place = usize;

#[derive(Debug)]
enum Node {
    /// Begins in the choice `owner`, or is a state of its own.
    Action {
        action: Action,
        owner: Option<Place>,
        next: Place,
    },
    /// A choice in no other choice; what it offers are the actions that it owns.
    Choice,
    /// `end`.
    End,
    /// A choice within a choice, which its outermost choice owns. No machine state.
    Nested,
    /// `rec X . T`, standing for `T`.
    Rec { body: Place },
    /// `X`, standing for its binder.
    Variable { binder: Place },
}

/// The text as it is written, in the order in which it is written: a node is before the nodes in it.
#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
    spans: Vec<Range<usize>>,
}

/// What is open while reading, innermost last.
enum Open<'a> {
    /// `a; …`: the continuation of the action is to come.
    Action(Place),
    /// `{a, …`: another branch may come.
    Choice {
        /// The outermost choice, which owns the actions.
        owner: Place,
        place: Place,
        closing: char,
    },
    /// `rec X . …`: the body is to come.
    Rec(Place, &'a str),
}

impl Tree {
    /// Reads one type.
    fn parse<'a>(lexer: &mut Lexer<'a>, peers: bool) -> Result<Self, SpannedMessage> {
        let mut tree = Self {
            nodes: vec![],
            spans: vec![],
        };
        let mut open: Vec<Open<'a>> = vec![];
        // The binders in scope, innermost last.
        let mut binders: HashMap<&'a str, Vec<Place>> = HashMap::new();
        loop {
            let mut done = loop {
                skip_roles(lexer)?;
                let token = lexer.next()?;
                let place = tree.nodes.len();
                let owner = match open.last() {
                    Some(&Open::Choice { owner, .. }) => Some(owner),
                    _ => None,
                };
                match token.kind {
                    Kind::Name(peer) if peers && is_direction(lexer)? => {
                        let direction = direction(lexer)?;
                        tree.action(lexer, peer, direction, owner, token.span.start)?;
                        open.push(Open::Action(place));
                    }
                    Kind::Mark(mark @ ('!' | '?')) if !peers => {
                        let direction = match mark {
                            '!' => Direction::Send,
                            _ => Direction::Receive,
                        };
                        tree.action(lexer, BINARY_PEER, direction, owner, token.span.start)?;
                        open.push(Open::Action(place));
                    }
                    Kind::Mark('+' | '&' | '{' | '[') => {
                        let bracket = match token.kind {
                            Kind::Mark('+' | '&') => lexer.next()?,
                            _ => token,
                        };
                        let closing = match bracket.kind {
                            Kind::Mark('{') => '}',
                            Kind::Mark('[') => ']',
                            _ => {
                                let message = "expected `{` or `[` after the sign of a choice";
                                return Err(SpannedMessage::new(bracket.span, message));
                            }
                        };
                        let node = match owner {
                            Some(_) => Node::Nested,
                            None => Node::Choice,
                        };
                        tree.push(node, bracket.span);
                        open.push(Open::Choice {
                            owner: owner.unwrap_or(place),
                            place,
                            closing,
                        });
                    }
                    Kind::Name(word) => {
                        if owner.is_some() {
                            let message = "a branch begins with an action or a choice; \
                                           put `rec`, `end` or a variable after an action";
                            return Err(SpannedMessage::new(token.span, message));
                        }
                        if word == "end" {
                            tree.push(Node::End, token.span);
                            break place;
                        } else if let Some(&binder) = binders.get(word).and_then(|b| b.last()) {
                            tree.push(Node::Variable { binder }, token.span);
                            break place;
                        } else if word == "rec" {
                            let (variable, _) = lexer.name("a variable, as in `rec X . B!a; X`")?;
                            lexer.expect('.', "after the variable, as in `rec X . B!a; X`")?;
                            tree.push(Node::Rec { body: place }, token.span);
                            binders.entry(variable).or_default().push(place);
                            open.push(Open::Rec(place, variable));
                        } else {
                            let message = match peers {
                                true => format!(
                                    "no `rec {word} .` is around this variable; bind it, \
                                     or write `{word}!label` or `{word}?label` for a message"
                                ),
                                false => format!(
                                    "no `rec {word} .` is around this variable; bind it, \
                                     or write `!{word}` or `?{word}` for a message"
                                ),
                            };
                            return Err(SpannedMessage::new(token.span, message));
                        }
                    }
                    _ => {
                        let example = if peers { "B!a; end" } else { "!a; end" };
                        let message = format!(
                            "expected a type: an action as in `{example}`, a choice, `rec`, `end` or a variable"
                        );
                        return Err(SpannedMessage::new(token.span, message));
                    }
                }
            };

            // `done` is a whole type: hand it to what is open around it.
            loop {
                match open.pop() {
                    None => return Ok(tree),
                    Some(Open::Action(place)) => {
                        if let Some(Node::Action { next, .. }) = tree.nodes.get_mut(place) {
                            *next = done;
                        }
                        done = place;
                    }
                    Some(Open::Rec(place, variable)) => {
                        if let Some(Node::Rec { body }) = tree.nodes.get_mut(place) {
                            *body = done;
                        }
                        if let Some(places) = binders.get_mut(variable) {
                            places.pop();
                        }
                        done = place;
                    }
                    Some(Open::Choice {
                        owner,
                        place,
                        closing,
                    }) => {
                        if lexer.follows(',')? {
                            open.push(Open::Choice {
                                owner,
                                place,
                                closing,
                            });
                            break;
                        }
                        lexer.expect(closing, "or `,` after the branch of a choice")?;
                        done = place;
                    }
                }
            }
        }
    }

    fn push(&mut self, node: Node, span: Range<usize>) {
        self.nodes.push(node);
        self.spans.push(span);
    }

    /// `label<sorts>;` after the peer and the direction.
    fn action(
        &mut self,
        lexer: &mut Lexer<'_>,
        peer: &str,
        direction: Direction,
        owner: Option<Place>,
        start: usize,
    ) -> Result<(), SpannedMessage> {
        let (label, span) = lexer.name("the label of a message, as in `B!a; end`")?;
        let payload = lexer.payload()?;
        lexer.expect(';', "after the message, as in `B!a; end`")?;
        let action = Action {
            peer: peer.into(),
            direction,
            message: Message {
                label: label.into(),
                payload: payload.into_iter().map(Into::into).collect(),
            },
        };
        // The continuation is not known yet; it is set when it is.
        let next = self.nodes.len();
        self.push(
            Node::Action {
                action,
                owner,
                next,
            },
            start..span.end,
        );
        Ok(())
    }

    /// The machine that the tree, whose root is its first node, stands for.
    ///
    /// States are the places that something leads to, once `rec` and variables are followed; their order is the
    /// order of the text.
    fn machine(self, role: &str) -> Result<Named, SpannedMessage> {
        let stands_for = self.resolve()?;
        let mut builder = Fsm::builder(role);
        let mut states = HashMap::new();
        let mut is_state = vec![false; self.nodes.len()];
        is_state[stands_for[0]] = true;
        for node in &self.nodes {
            if let Node::Action { next, .. } = *node {
                is_state[stands_for[next]] = true;
            }
        }
        let mut end = None;
        for (place, node) in self.nodes.iter().enumerate() {
            if is_state[place] {
                let state = match (node, end) {
                    (Node::End, Some(end)) => end,
                    _ => builder.add_state(),
                };
                if let Node::End = node {
                    end = Some(state);
                }
                states.insert(place, state);
            }
        }

        let count = builder.state_count();
        let mut actions = vec![];
        for (place, node) in self.nodes.into_iter().enumerate() {
            if let Node::Action {
                action,
                owner,
                next,
            } = node
            {
                // An action is a state, or its choice is: whatever leads to one leads there.
                let source = states.get(&owner.unwrap_or(place)).copied();
                let target = states.get(&stands_for[next]).copied();
                if let (Some(source), Some(target)) = (source, target) {
                    builder.add_transition(source, action, target);
                    actions.push(self.spans[place].clone());
                }
            }
        }
        // A type has a node, and what the first stands for is a state, see above.
        let initial = states[&stands_for[0]];
        Ok(Named {
            fsm: builder.build(initial),
            states: (0..count).map(|state| state.to_string()).collect(),
            actions,
        })
    }

    /// For each place the action, choice or end that it stands for.
    fn resolve(&self) -> Result<Vec<Place>, SpannedMessage> {
        const UNKNOWN: Place = Place::MAX;
        let mut stands_for = vec![UNKNOWN; self.nodes.len()];
        let mut path = vec![];
        for place in 0..self.nodes.len() {
            let mut at = place;
            let target = loop {
                if stands_for[at] != UNKNOWN {
                    break stands_for[at];
                }
                let next = match self.nodes[at] {
                    Node::Rec { body } => body,
                    Node::Variable { binder } => binder,
                    _ => break at,
                };
                path.push(at);
                // A way through `rec` and variables only that is longer than the text goes round.
                if path.len() > self.nodes.len() {
                    let message = "this recursion does nothing; put an action before its variable";
                    return Err(SpannedMessage::new(self.spans[place].clone(), message));
                }
                at = next;
            };
            stands_for[target] = target;
            for at in path.drain(..) {
                stands_for[at] = target;
            }
        }
        Ok(stands_for)
    }
}

fn is_direction(lexer: &mut Lexer<'_>) -> Result<bool, SpannedMessage> {
    Ok(matches!(lexer.peek()?.kind, Kind::Mark('!' | '?')))
}

fn direction(lexer: &mut Lexer<'_>) -> Result<Direction, SpannedMessage> {
    Ok(match lexer.next()?.kind {
        Kind::Mark('!') => Direction::Send,
        _ => Direction::Receive,
    })
}
