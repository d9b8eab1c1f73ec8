//! A tape as a module of WebAssembly.
//!
//! In: a [`Tape`], the words of its rows. Out: the bytes of a module that imports the memory `m` of
//! the module `e`, and exports the function `f`. Its parameters are the address of the scratch rows
//! and those of the banks; it computes all vectors of 128 lanes of the rows.
//!
//! The steps are divided into functions of a few hundred, since browsers optimize a function as a
//! whole. Within one of them, a value that is needed again is in a local variable; it is also in
//! memory only if another function reads it.

use rustc_hash::FxHashMap;
use wasm_encoder::{
    BlockType, CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection,
    ImportSection, InstructionSink, MemArg, MemArgTarget, MemoryType, Module, TypeSection, ValType,
};

use crate::propnet::tape::{BANKS, Home, Kind, Step, Tape};

/// The bytes of a vector.
pub const VECTOR: usize = 16;
/// The maximum number of steps of a function.
const STEPS: usize = 400;
/// The parameters: the scratch rows, and the banks.
const PARAMETERS: u32 = 1 + BANKS as u32;
/// The types of functions: without a result, and with the answer whether a loop is repeated.
const PLAIN: u32 = 0;
const ASKED: u32 = 1;

/// A part of the tape.
#[derive(Copy, Clone)]
enum Part<'t> {
    Steps(&'t [Step]),
    /// A loop begins.
    Begin(&'t [(u32, u32)]),
    /// A loop ends.
    End(&'t [(u32, u32)]),
}

impl Part<'_> {
    fn is_end(&self) -> bool {
        matches!(self, Part::End(_))
    }

    fn function_type(self) -> u32 {
        match self {
            Part::Steps(_) | Part::Begin(_) => PLAIN,
            Part::End(_) => ASKED,
        }
    }
}

/// The parts of a tape in order.
fn parts(tape: &Tape) -> Vec<Part<'_>> {
    let is_mark = |step: &Step| matches!(step.kind, Kind::Begin | Kind::End);
    let mut parts = Vec::new();
    let mut start = 0;
    while start < tape.steps.len() {
        let rest = &tape.steps[start..];
        let step = &rest[0];
        if is_mark(step) {
            let pairs = &tape.loops[step.number()][..];
            parts.push(match step.kind {
                Kind::Begin => Part::Begin(pairs),
                _ => Part::End(pairs),
            });
            start += 1;
            continue;
        }
        let plain = rest.iter().take(STEPS).take_while(|step| !is_mark(step));
        let count = plain.count();
        parts.push(Part::Steps(&rest[..count]));
        start += count;
    }
    parts
}

/// The bytes of the module.
///
/// # Panics
///
/// If the rows are not whole vectors.
pub fn encode(tape: &Tape, words: usize) -> Vec<u8> {
    assert!(
        words > 0 && (words * 8).is_multiple_of(VECTOR),
        "rows of {words} words must be whole vectors"
    );
    let parts = parts(tape);
    let mut types = TypeSection::new();
    let parameters = [ValType::I32; PARAMETERS as usize];
    types.ty().function(parameters, []);
    types.ty().function(parameters, [ValType::I32]);
    let mut imports = ImportSection::new();
    let memory = MemoryType {
        minimum: 0,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    imports.import("e", "m", EntityType::Memory(memory));
    let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
    let writer = Writer::new(tape, words, &parts);
    for (number, part) in parts.iter().enumerate() {
        functions.function(part.function_type());
        code.function(&writer.part(number, *part));
    }
    functions.function(PLAIN);
    code.function(&whole(&parts, words));
    let mut exports = ExportSection::new();
    exports.export("f", ExportKind::Func, parts.len() as u32);
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&functions);
    module.section(&exports).section(&code);
    module.finish()
}

/// The function that calls all parts. A part, or a loop, runs for one vector of the rows after the
/// other, while its code is in the processor's cache.
fn whole(parts: &[Part], words: usize) -> Function {
    let vectors = (words * 8 / VECTOR) as u32;
    let mut function = Function::new([((vectors - 1) * PARAMETERS, ValType::I32)]);
    let mut code = function.instructions();
    // By vector: the addresses of its first row.
    for vector in 1..vectors {
        for parameter in 0..PARAMETERS {
            code.local_get(parameter)
                .i32_const((vector as usize * VECTOR) as i32)
                .i32_add()
                .local_set(vector * PARAMETERS + parameter);
        }
    }
    let mut first = 0;
    while first < parts.len() {
        let rest = &parts[first..];
        let count = match rest[0] {
            Part::Begin(_) => 1 + rest.iter().take_while(|part| !part.is_end()).count(),
            Part::Steps(_) | Part::End(_) => 1,
        };
        for vector in 0..vectors {
            for (number, part) in (first..).zip(&rest[..count]) {
                for parameter in 0..PARAMETERS {
                    code.local_get(vector * PARAMETERS + parameter);
                }
                code.call(number as u32);
                match part {
                    Part::Steps(_) => {}
                    Part::Begin(_) => {
                        code.loop_(BlockType::Empty);
                    }
                    Part::End(_) => {
                        code.br_if(0).end();
                    }
                }
            }
        }
        first += count;
    }
    code.end();
    function
}

struct Writer<'t> {
    tape: &'t Tape,
    words: usize,
    /// By value: the last part that reads it. A loop may read it again, so its feedbacks and their
    /// definitions are always in memory.
    last: Vec<usize>,
}

impl<'t> Writer<'t> {
    fn new(tape: &'t Tape, words: usize, parts: &[Part]) -> Self {
        let mut last = vec![0; tape.homes.len()];
        for (number, part) in parts.iter().enumerate() {
            if let Part::Steps(steps) = part {
                for &value in steps.iter().flat_map(Step::reads) {
                    last[value as usize] = number;
                }
            }
        }
        for &(feedback, definition) in tape.loops.iter().flatten() {
            last[feedback as usize] = usize::MAX;
            last[definition as usize] = usize::MAX;
        }
        Writer { tape, words, last }
    }

    /// The parameter with the base of a value's address, and the offset.
    fn address(&self, value: u32) -> (u32, MemArg) {
        let (parameter, row) = match self.tape.homes[value as usize] {
            Home::Bank(place) => (1 + u32::from(place.bank), place.index),
            Home::Scratch(slot) => (0, slot),
            Home::Nowhere => unreachable!("only values with a home are computed and read"),
        };
        let offset = row as usize * self.words * 8;
        let offset = MemArg {
            offset: offset as u64,
            align: 3,
            target: MemArgTarget::Memory(0),
            ordering: None,
        };
        (parameter, offset)
    }

    fn load(&self, code: &mut InstructionSink<'_>, value: u32) {
        let (parameter, offset) = self.address(value);
        code.local_get(parameter).v128_load(offset);
    }

    fn part(&self, number: usize, part: Part) -> Function {
        match part {
            Part::Steps(steps) => self.steps(number, steps),
            Part::Begin(pairs) => {
                let mut function = Function::new([]);
                let mut code = function.instructions();
                for &(feedback, _) in pairs {
                    let (parameter, offset) = self.address(feedback);
                    code.local_get(parameter).v128_const(0).v128_store(offset);
                }
                code.end();
                function
            }
            Part::End(pairs) => self.end(pairs),
        }
    }

    /// Sets feedbacks to their definitions, and returns whether that changes one of them.
    fn end(&self, pairs: &[(u32, u32)]) -> Function {
        // The new value, and all changes.
        let (new, changes) = (PARAMETERS, PARAMETERS + 1);
        let mut function = Function::new([(2, ValType::V128)]);
        let mut code = function.instructions();
        for &(feedback, definition) in pairs {
            self.load(&mut code, definition);
            code.local_set(new);
            self.load(&mut code, feedback);
            code.local_get(new).v128_xor();
            code.local_get(changes).v128_or().local_set(changes);
            let (parameter, offset) = self.address(feedback);
            code.local_get(parameter).local_get(new).v128_store(offset);
        }
        code.local_get(changes).v128_any_true().end();
        function
    }

    fn steps(&self, number: usize, steps: &[Step]) -> Function {
        // How often each value is read here.
        let mut reads: FxHashMap<u32, u32> = FxHashMap::default();
        for &value in steps.iter().flat_map(Step::reads) {
            *reads.entry(value).or_default() += 1;
        }
        let is_stored = |value: u32| {
            let is_output = matches!(self.tape.homes[value as usize], Home::Bank(_));
            is_output || self.last[value as usize] > number
        };
        // Each value that is made and read here, and each that is read twice, gets a variable.
        let mut locals: FxHashMap<u32, u32> = FxHashMap::default();
        let mut variable = |value: u32| {
            let next = PARAMETERS + locals.len() as u32;
            *locals.entry(value).or_insert(next)
        };
        let mut is_loaded: FxHashMap<u32, u32> = FxHashMap::default();
        let mut body = Vec::new();
        let mut code = InstructionSink::new(&mut body);
        for step in steps {
            let is_kept = reads.contains_key(&step.result);
            let is_stored = is_stored(step.result);
            if !is_kept && !is_stored {
                continue;
            }
            let (parameter, offset) = self.address(step.result);
            if is_stored {
                code.local_get(parameter);
            }
            for &value in step.reads() {
                match is_loaded.get(&value) {
                    Some(&local) => {
                        code.local_get(local);
                    }
                    None => {
                        self.load(&mut code, value);
                        if reads[&value] > 1 {
                            let local = variable(value);
                            code.local_tee(local);
                            is_loaded.insert(value, local);
                        }
                    }
                }
            }
            match step.kind {
                Kind::And => code.v128_and(),
                Kind::AndNot => code.v128_andnot(),
                Kind::Or => code.v128_or(),
                Kind::Xor => code.v128_xor(),
                Kind::Not => code.v128_not(),
                Kind::Copy => &mut code,
                Kind::Zero => code.v128_const(0),
                Kind::Ones => code.v128_const(-1),
                Kind::Table(_) | Kind::Begin | Kind::End => {
                    unreachable!("parts have gates, and tapes no tables")
                }
            };
            if is_kept {
                let local = variable(step.result);
                is_loaded.insert(step.result, local);
                match is_stored {
                    true => code.local_tee(local),
                    false => code.local_set(local),
                };
            }
            if is_stored {
                code.v128_store(offset);
            }
        }
        code.end();
        let mut function = Function::new([(locals.len() as u32, ValType::V128)]);
        function.raw(body);
        function
    }
}
