; Later patterns win.
(name) @constant
(number) @number
(variable) @variable
(list functor: (name) @function)
(keyword) @keyword
(operator) @keyword.operator
(rule "<=" @operator)
(comment) @comment
["(" ")"] @punctuation.bracket
