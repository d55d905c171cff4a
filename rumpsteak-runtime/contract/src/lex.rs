//! Rust source as a list of tokens.
//!
//! ```text
//! /// Why.                                       a comment of any kind is dropped
//! #[route(S)] s: Channel<'a, u8>                 # [ route ( S ) ] s : Channel < ' a , u8 >
//! ```
//!
//! The tokens are those that rustc gives to a macro, with three liberties, none of which makes two programs out of one
//! text that rustc compiles: doc comments are dropped, as [`token`](crate::token) drops the attributes that rustc makes
//! of them; a name goes on with whatever is beyond ASCII and no blank; and literals are not looked into. A text in which
//! rustc sees other tokens than this module is no harm either: its items have other hashes in the build script than in the
//! macros, so that they have no verdict, and do not compile.
//!
//! Nothing recurses, so no nesting overflows the stack. Linear in the length of the text. A build script is not
//! optimised, so the inner loops are over bytes and call nothing.

use crate::token::{Delimiter, Span, Token, TokenKind};

/// Cuts a text into tokens; nothing if it is no Rust: a literal or a comment without an end, brackets that do not match,
/// a character that begins no token.
///
/// ```
/// let tokens = rumpsteak_contract::lex::lex("type A = End; // done").unwrap_or_default();
/// assert_eq!(tokens.len(), 5);
/// assert!(rumpsteak_contract::lex::lex("struct A(").is_none());
/// ```
#[must_use]
pub fn lex(text: &str) -> Option<Vec<Token<'_>>> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: 1,
        tokens: Vec::with_capacity(text.len() / 5),
        open: Vec::new(),
    };
    while lexer.at < lexer.bytes.len() {
        lexer.token()?;
    }
    lexer.open.is_empty().then_some(lexer.tokens)
}

/// What a byte may be.
const OTHER: u8 = 0;
const BLANK: u8 = 1;
const LETTER: u8 = 2;
const DIGIT: u8 = 3;
const PUNCT: u8 = 4;
const OPEN: u8 = 5;
const CLOSE: u8 = 6;
const QUOTE: u8 = 7;
/// A byte of a character beyond ASCII.
const BEYOND: u8 = 8;

/// The class of each byte. Not a constant, which would be copied where it is used.
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => BLANK,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'(' | b'[' | b'{' => OPEN,
            b')' | b']' | b'}' => CLOSE,
            b'"' => QUOTE,
            b'~' | b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'-' | b'=' | b'+'
            | b'|' | b';' | b':' | b',' | b'<' | b'.' | b'>' | b'/' | b'?' | b'\'' => PUNCT,
            0x80.. => BEYOND,
            _ => OTHER,
        };
        byte += 1;
    }
    classes
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// The line of `at`, from 1, but for a token that is being read.
    line: usize,
    tokens: Vec<Token<'a>>,
    /// The brackets that are open, with the indices of their tokens.
    open: Vec<(Delimiter, usize)>,
}

impl<'a> Lexer<'a> {
    /// The byte so far ahead; 0 behind the end.
    fn byte(&self, ahead: usize) -> u8 {
        if self.at + ahead < self.bytes.len() {
            self.bytes[self.at + ahead]
        } else {
            0
        }
    }

    fn push(&mut self, kind: TokenKind<'a>, start: usize) {
        let (span, tree) = (Span::of(start, self.at, self.line), 1);
        self.tokens.push(Token { kind, span, tree });
    }

    fn push_literal(&mut self, start: usize) {
        // A suffix belongs to the literal: `1u8`.
        self.word();
        self.push(TokenKind::Literal(&self.text[start..self.at]), start);
        self.count_lines(start);
    }

    /// Takes account of the ends of lines between there and here.
    fn count_lines(&mut self, start: usize) {
        let mut at = start;
        while at < self.at {
            self.line += usize::from(self.bytes[at] == b'\n');
            at += 1;
        }
    }

    /// Reads a token, a comment or blanks.
    fn token(&mut self) -> Option<()> {
        let start = self.at;
        let byte = self.bytes[start];
        match CLASSES[byte as usize] {
            BLANK => {
                let (bytes, mut at) = (self.bytes, start);
                while at < bytes.len() && CLASSES[bytes[at] as usize] == BLANK {
                    if bytes[at] == b'\n' {
                        self.line += 1;
                    }
                    at += 1;
                }
                self.at = at;
            }
            LETTER => self.name(start)?,
            PUNCT => match (byte, self.byte(1)) {
                (b'/', b'/') => {
                    let (bytes, mut at) = (self.bytes, start + 2);
                    while at < bytes.len() && bytes[at] != b'\n' {
                        at += 1;
                    }
                    self.at = at;
                }
                (b'/', b'*') => {
                    self.block_comment()?;
                    self.count_lines(start);
                }
                (b'\'', _) => self.quote(start)?,
                (_, next) => {
                    self.at += 1;
                    let joint = CLASSES[next as usize] == PUNCT
                        && !(next == b'/' && matches!(self.byte(1), b'/' | b'*'));
                    self.push(TokenKind::Punct(byte as char, joint), start);
                }
            },
            OPEN => {
                self.at += 1;
                let delimiter = delimiter(byte);
                self.open.push((delimiter, self.tokens.len()));
                self.push(TokenKind::Open(delimiter), start);
            }
            CLOSE => {
                self.at += 1;
                let delimiter = delimiter(byte);
                let (_, open) = self.open.pop().filter(|(open, _)| *open == delimiter)?;
                self.push(TokenKind::Close(delimiter), start);
                self.tokens[open].tree = self.tokens.len() - open;
            }
            DIGIT => {
                self.number();
                self.push_literal(start);
            }
            QUOTE => {
                self.at += 1;
                self.until_quote(b'"')?;
                self.push_literal(start);
            }
            BEYOND => match self.text[start..].chars().next() {
                Some(c) if is_blank(c) => self.at += c.len_utf8(),
                Some(c) if c.is_alphabetic() => self.name(start)?,
                _ => return None,
            },
            _ => return None,
        }
        Some(())
    }

    /// Steps over the rest of a name, if there is one.
    fn word(&mut self) {
        let (bytes, mut at) = (self.bytes, self.at);
        while at < bytes.len() {
            match CLASSES[bytes[at] as usize] {
                LETTER | DIGIT => at += 1,
                BEYOND => match self.text[at..].chars().next() {
                    // Marks too: `क्ष` is a name. What is none does not reach a macro.
                    Some(c) if !is_blank(c) => at += c.len_utf8(),
                    _ => break,
                },
                _ => break,
            }
        }
        self.at = at;
    }

    /// Reads a name, or a literal that begins with letters.
    fn name(&mut self, start: usize) -> Option<()> {
        self.word();
        let mut text = &self.text[start..self.at];
        let next = self.byte(0);
        if next == b'"' || next == b'#' || next == b'\'' {
            match (text, next) {
                ("b" | "c", b'"') | ("b", b'\'') => {
                    self.at += 1;
                    self.until_quote(next)?;
                    self.push_literal(start);
                    return Some(());
                }
                ("r" | "br" | "cr", b'"' | b'#') => {
                    let hashes = self.hashes();
                    if self.byte(hashes) == b'"' {
                        self.at += hashes + 1;
                        self.raw_string(hashes)?;
                        self.push_literal(start);
                        return Some(());
                    }
                    let letter = CLASSES[self.byte(1) as usize];
                    if text == "r" && hashes == 1 && matches!(letter, LETTER | BEYOND) {
                        self.at += 1;
                        self.word();
                        text = &self.text[start..self.at];
                    }
                }
                _ => {}
            }
        }
        self.push(TokenKind::Ident(text), start);
        Some(())
    }

    /// How many `#` follow.
    fn hashes(&self) -> usize {
        let mut hashes = 0;
        while self.byte(hashes) == b'#' {
            hashes += 1;
        }
        hashes
    }

    /// Steps over the rest of a literal with escapes, up to the quotation mark.
    fn until_quote(&mut self, quote: u8) -> Option<()> {
        let (bytes, mut at) = (self.bytes, self.at);
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 2,
                byte if byte == quote => {
                    self.at = at + 1;
                    return Some(());
                }
                _ => at += 1,
            }
        }
        None
    }

    /// Steps over the rest of a raw string with so many `#`.
    fn raw_string(&mut self, hashes: usize) -> Option<()> {
        loop {
            self.at += self.text.get(self.at..)?.find('"')? + 1;
            let mut found = 0;
            while found < hashes && self.byte(found) == b'#' {
                found += 1;
            }
            if found == hashes {
                self.at += hashes;
                return Some(());
            }
        }
    }

    /// Reads a character, or the `'` of a lifetime.
    fn quote(&mut self, start: usize) -> Option<()> {
        self.at += 1;
        let character = self.text[self.at..].chars().next()?;
        let length = character.len_utf8();
        if character == '\\' || self.byte(length) == b'\'' {
            self.until_quote(b'\'')?;
            self.push_literal(start);
            return Some(());
        }
        let letter = CLASSES[self.byte(0) as usize];
        matches!(letter, LETTER | BEYOND).then(|| self.push(TokenKind::Punct('\'', true), start))
    }

    /// Steps over a number, without its suffix.
    fn number(&mut self) {
        let is_decimal = self.byte(0) != b'0' || !matches!(self.byte(1), b'x' | b'o' | b'b');
        if !is_decimal {
            return self.word();
        }
        self.digits();
        // `1.0` and `1.`, but not `1..2`, `1.max(2)`.
        if self.byte(0) == b'.'
            && !matches!(CLASSES[self.byte(1) as usize], LETTER | BEYOND)
            && self.byte(1) != b'.'
        {
            self.at += 1;
            self.digits();
        }
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            let mut ahead = 1 + sign;
            while self.byte(ahead) == b'_' {
                ahead += 1;
            }
            if CLASSES[self.byte(ahead) as usize] == DIGIT {
                self.at += ahead;
                self.digits();
            }
        }
    }

    fn digits(&mut self) {
        while CLASSES[self.byte(0) as usize] == DIGIT || self.byte(0) == b'_' {
            self.at += 1;
        }
    }

    /// Steps over a comment, which may contain others.
    fn block_comment(&mut self) -> Option<()> {
        let (bytes, mut at, mut depth) = (self.bytes, self.at, 0_usize);
        while at + 1 < bytes.len() {
            match (bytes[at], bytes[at + 1]) {
                (b'/', b'*') => (depth, at) = (depth + 1, at + 2),
                (b'*', b'/') => {
                    (depth, at) = (depth - 1, at + 2);
                    if depth == 0 {
                        self.at = at;
                        return Some(());
                    }
                }
                _ => at += 1,
            }
        }
        None
    }
}

/// The characters beyond ASCII that Rust takes for blanks.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
    )
}

fn delimiter(byte: u8) -> Delimiter {
    match byte {
        b'(' | b')' => Delimiter::Parenthesis,
        b'[' | b']' => Delimiter::Bracket,
        _ => Delimiter::Brace,
    }
}
