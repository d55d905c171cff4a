//! Types into machines, without recursion: the text may nest as deep as it likes.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use crate::machine::{Action, Direction, Fsm};
use crate::text::error::SpannedMessage;
use crate::text::lexer::{Kind, Lexer, Token};
use crate::text::named::Named;

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
    lexer.skip_roles()?;
    Ok(lexer.peek()?.kind == Kind::End)
}

/// A place in a [`Tree`].
type Place = usize;

#[derive(Debug)]
enum Node {
    /// Begins in the choice `owner`, or is a state of its own.
    Action { action: Action, owner: Option<Place>, next: Place },
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

/// The text as it is written, in the order in which it is written: a node is before the nodes in
/// it.
#[derive(Debug, Default)]
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

/// What is read so far of a type.
struct Reading<'a, 'b> {
    lexer: &'b mut Lexer<'a>,
    /// Whether actions name their peers.
    peers: bool,
    tree: Tree,
    /// What is open, innermost last.
    open: Vec<Open<'a>>,
    /// The binders in scope, innermost last.
    binders: HashMap<&'a str, Vec<Place>>,
}

impl<'a> Reading<'a, '_> {
    /// Reads the beginning of a type, and says whether that is the whole type.
    fn begin(&mut self, place: Place) -> Result<bool, SpannedMessage> {
        self.lexer.skip_roles()?;
        let Token { kind, span } = self.lexer.next()?;
        let owner = match self.open.last() {
            Some(&Open::Choice { owner, .. }) => Some(owner),
            _ => None,
        };
        let action = match kind {
            Kind::Name(peer) if self.peers => (peer, self.lexer.peek()?.kind.direction()),
            _ if !self.peers => (BINARY_PEER, kind.direction()),
            _ => ("", None),
        };
        if let (peer, Some(direction)) = action {
            if self.peers {
                self.lexer.next()?;
            }
            self.action(peer, direction, owner, span.start)?;
            return Ok(false);
        }
        match kind {
            Kind::Mark('+' | '&') => {
                let bracket = self.lexer.next()?;
                self.choice(bracket, owner, place)?;
            }
            Kind::Mark('{' | '[') => self.choice(Token { kind, span }, owner, place)?,
            Kind::Name(_) if owner.is_some() => {
                let message = "a branch begins with an action or a choice; \
                               put `rec`, `end` or a variable after an action";
                return Err(SpannedMessage::new(span, message));
            }
            Kind::Name(word) => return self.word(word, span, place),
            _ => {
                let example = if self.peers { "B!a; end" } else { "!a; end" };
                let message = format!(
                    "expected a type: an action as in `{example}`, a choice, `rec`, `end` or a variable"
                );
                return Err(SpannedMessage::new(span, message));
            }
        }
        Ok(false)
    }

    /// `label<sorts>;` after the peer and the direction.
    fn action(
        &mut self,
        peer: &str,
        direction: Direction,
        owner: Option<Place>,
        start: usize,
    ) -> Result<(), SpannedMessage> {
        let (message, span) = self.lexer.message("the label of a message, as in `B!a; end`")?;
        let context = match self.lexer.peek()?.kind {
            Kind::Mark('(') => {
                "after the message, whose payload stands in `<…>`, as in `B!a<T>; end`"
            }
            _ => "after the message, as in `B!a; end`",
        };
        self.lexer.expect(';', context)?;
        let action = Action { peer: peer.into(), direction, message };
        let place = self.tree.nodes.len();
        // The continuation is not known yet; `end` sets it.
        let node = Node::Action { action, owner, next: place };
        self.tree.push(node, start..span.end);
        self.open.push(Open::Action(place));
        Ok(())
    }

    /// A choice after its sign.
    fn choice(
        &mut self,
        bracket: Token<'a>,
        owner: Option<Place>,
        place: Place,
    ) -> Result<(), SpannedMessage> {
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
        self.tree.push(node, bracket.span);
        self.open.push(Open::Choice { owner: owner.unwrap_or(place), place, closing });
        Ok(())
    }

    /// `end`, a variable or `rec X .`; whether that is a whole type. A variable may be called `end`
    /// or `rec`.
    fn word(
        &mut self,
        word: &'a str,
        span: Range<usize>,
        place: Place,
    ) -> Result<bool, SpannedMessage> {
        if word == "end" {
            self.tree.push(Node::End, span);
            Ok(true)
        } else if let Some(&binder) = self.binders.get(word).and_then(|b| b.last()) {
            self.tree.push(Node::Variable { binder }, span);
            Ok(true)
        } else if word == "rec" {
            let (variable, _) = self.lexer.name("a variable, as in `rec X . B!a; X`")?;
            self.lexer.expect('.', "after the variable, as in `rec X . B!a; X`")?;
            self.tree.push(Node::Rec { body: place }, span);
            self.binders.entry(variable).or_default().push(place);
            self.open.push(Open::Rec(place, variable));
            Ok(false)
        } else if word == "continue"
            && let Ok((variable, _)) = self.lexer.name("a variable")
            && self.binders.get(variable).is_some_and(|known| !known.is_empty())
        {
            let message = format!("`continue` is no word of a local type; write `{variable}`");
            Err(SpannedMessage::new(span, message))
        } else {
            let messages = if self.peers {
                format!("`{word}!label` or `{word}?label`")
            } else {
                format!("`!{word}` or `?{word}`")
            };
            let message = format!(
                "no `rec {word} .` is around this variable; bind it, or write {messages} for a message"
            );
            Err(SpannedMessage::new(span, message))
        }
    }

    /// Hands a whole type to what is open around it, and says whether nothing is.
    fn end(&mut self, mut done: Place) -> Result<bool, SpannedMessage> {
        while let Some(open) = self.open.pop() {
            match open {
                Open::Action(place) => {
                    if let Some(Node::Action { next, .. }) = self.tree.nodes.get_mut(place) {
                        *next = done;
                    }
                    done = place;
                }
                Open::Rec(place, variable) => {
                    if let Some(Node::Rec { body }) = self.tree.nodes.get_mut(place) {
                        *body = done;
                    }
                    if let Some(places) = self.binders.get_mut(variable) {
                        places.pop();
                    }
                    done = place;
                }
                Open::Choice { place, closing, .. } => {
                    if self.lexer.follows(',')? {
                        self.open.push(open);
                        return Ok(false);
                    }
                    self.lexer.expect(closing, "or `,` after the branch of a choice")?;
                    done = place;
                }
            }
        }
        Ok(true)
    }
}

impl Tree {
    fn parse(lexer: &mut Lexer<'_>, peers: bool) -> Result<Self, SpannedMessage> {
        let mut reading =
            Reading { lexer, peers, tree: Self::default(), open: vec![], binders: HashMap::new() };
        loop {
            let place = reading.tree.nodes.len();
            if reading.begin(place)? && reading.end(place)? {
                return Ok(reading.tree);
            }
        }
    }

    fn push(&mut self, node: Node, span: Range<usize>) {
        self.nodes.push(node);
        self.spans.push(span);
    }

    /// The machine that the tree, whose root is its first node, stands for.
    ///
    /// States are the places that something leads to, once `rec` and variables are followed; their
    /// order is the order of the text.
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
            if let Node::Action { action, owner, next } = node {
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
