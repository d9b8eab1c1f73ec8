//! Execution of a tape as WebAssembly, which a browser compiles to machine code.
//!
//! In: a [`Tape`], the width of the rows. Out: a function in the table of this program, which is
//! WebAssembly itself, and a safe way to call it. That program has one thread: with shared memory
//! the modules would not be accepted, and the interpreter would run instead.

#![cfg_attr(all(target_family = "wasm", feature = "jit"), allow(unsafe_code))]

mod encode;

#[cfg(all(target_family = "wasm", feature = "jit"))]
pub(super) use compiled::Compiled;

#[cfg(test)]
pub(super) use encode::encode;

#[cfg(all(target_family = "wasm", feature = "jit"))]
mod compiled {
    use std::cell::RefCell;

    use js_sys::{Function, Object, Reflect, Uint8Array, WebAssembly};
    use wasm_bindgen::{JsCast, JsValue};

    use super::encode::{VECTOR, encode};
    use crate::propnet::lanes::Rows;
    use crate::propnet::tape::{BANKS, Tape};

    /// The words of a vector.
    const WORDS: usize = VECTOR / 8;

    /// The function of a tape: the scratch rows, and the banks.
    type Run = extern "C" fn(
        *mut u64,
        *mut u64,
        *mut u64,
        *mut u64,
        *mut u64,
        *mut u64,
        *mut u64,
        *mut u64,
        *mut u64,
    );

    thread_local! {
        /// Free places of the table.
        static FREE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    }

    /// A tape as a function in the table of this program.
    #[derive(Debug)]
    pub struct Compiled {
        index: u32,
        /// By bank: the number of rows it must have.
        rows: [usize; BANKS],
        scratch: usize,
        words: usize,
    }

    /// The table of functions of this program.
    fn table() -> WebAssembly::Table {
        wasm_bindgen::function_table().unchecked_into()
    }

    impl Compiled {
        /// Compiles a tape for rows of `words` words. `None` if the rows are not whole vectors, or
        /// the browser does not compile it.
        pub fn new(tape: &Tape, words: usize) -> Option<Compiled> {
            if words % WORDS != 0 {
                return None;
            }
            Some(Compiled {
                index: compile(&encode(tape, words)).ok()?,
                rows: *tape.rows(),
                scratch: tape.scratch(),
                words,
            })
        }

        /// New scratch rows for this code.
        pub fn scratch(&self) -> Rows {
            Rows::new(self.scratch, self.words)
        }

        /// Runs the code.
        ///
        /// # Panics
        ///
        /// If a bank is missing, too short or of another width, or `scratch` was not
        /// made by [`Compiled::scratch`].
        pub fn run(&self, banks: &mut [Rows], scratch: &mut Rows) {
            assert!(
                scratch.len() >= self.scratch && scratch.words() == self.words,
                "there must be enough scratch rows"
            );
            let mut starts = [std::ptr::null_mut::<u64>(); BANKS];
            for (number, &rows) in self.rows.iter().enumerate() {
                if rows > 0 {
                    let bank = &mut banks[number];
                    assert!(
                        bank.len() >= rows && bank.words() == self.words,
                        "bank {number} must have the tape's rows, of the code's width"
                    );
                    starts[number] = bank.flat_mut().as_mut_ptr();
                }
            }
            // SAFETY: a function pointer is an index of the table on this target. `compile` put a
            // function of this type there, and only `drop` removes it.
            let function = unsafe { std::mem::transmute::<usize, Run>(self.index as usize) };
            let scratch = scratch.flat_mut().as_mut_ptr();
            // The function reads and writes rows below `rows` of each bank, and rows below `scratch` of
            // the scratch rows. All these lie inside the buffers, which are borrowed uniquely for
            // this call, are disjoint, and may hold any bits.
            let [a, b, c, d, e, f, g, h] = starts;
            function(scratch, a, b, c, d, e, f, g, h);
        }
    }

    impl Drop for Compiled {
        fn drop(&mut self) {
            // The browser frees the code when nothing names it.
            if table().set_raw(self.index, &JsValue::NULL).is_ok() {
                FREE.with_borrow_mut(|free| free.push(self.index));
            }
        }
    }

    /// Compiles a module, and puts its function into the table.
    fn compile(bytes: &[u8]) -> Result<u32, JsValue> {
        let module = WebAssembly::Module::new(&Uint8Array::from(bytes).into())?;
        let (imports, environment) = (Object::new(), Object::new());
        Reflect::set(&environment, &"m".into(), &wasm_bindgen::memory())?;
        Reflect::set(&imports, &"e".into(), &environment)?;
        let instance = WebAssembly::Instance::new(&module, &imports)?;
        let function: Function = Reflect::get(&instance.exports(), &"f".into())?.dyn_into()?;
        let table = table();
        let index = match FREE.with_borrow_mut(Vec::pop) {
            Some(index) => index,
            None => table.grow(1)?,
        };
        table.set(index, &function)?;
        Ok(index)
    }
}
