/**
 * KIF as used in rule files of general game playing.
 *
 * Lists are classified by their first member, so that editors can colour and fold
 * them; the meaning of a rule set is not checked. Every text with balanced brackets
 * is parsed without an error.
 */

/// <reference types="tree-sitter-cli/dsl" />

const any_case = (word) =>
  new RegExp(word.split("").map((c) => `[${c}${c.toUpperCase()}]`).join(""));

// A longer name that begins with a keyword is a name, because of `word` below.
const words = (...list) => choice(...list.map(any_case));

module.exports = grammar({
  name: "kif",

  extras: ($) => [/[\s\u00A0\uFEFF]+/, $.comment],

  word: ($) => $.name,

  rules: {
    source_file: ($) => repeat($._form),

    _form: ($) => choice($.rule, $._term),

    _term: ($) => choice($.list, $.connective, $.variable, $.number, $.keyword, $.name),

    // (<= head literal ...)
    rule: ($) =>
      seq("(", "<=", optional(seq(field("head", $._term), field("body", repeat($._term)))), ")"),

    // (not literal), (or literal ...), (distinct term term)
    connective: ($) => seq("(", field("operator", $.operator), repeat($._term), ")"),

    // A fact, a literal or a term.
    list: ($) => seq("(", optional(seq(field("functor", $._term), repeat($._term))), ")"),

    operator: (_) => words("not", "or", "and", "distinct"),

    keyword: (_) =>
      words("role", "init", "true", "next", "legal", "does", "goal", "terminal", "base", "input", "sees"),

    variable: (_) => /\?[^\s\u00A0\uFEFF();]*/,

    number: (_) => /[+-]?[0-9]+/,

    name: (_) => /[^\s\u00A0\uFEFF();?][^\s\u00A0\uFEFF();]*/,

    comment: (_) => token(seq(";", /[^\n\r]*/)),
  },
});
