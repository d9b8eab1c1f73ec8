//! Encoding of the few x86-64 instructions that a tape needs.
//!
//! In: instructions on vector registers and memory. Out: machine code. An assembler
//! crate covers the whole instruction set, but took 75 to 110 ns per instruction,
//! where this takes about 4. A tape is compiled for each game and often for each
//! phase of one. The tests use such a crate to check every form that is written
//! here.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
//! sections 2.3 (VEX) and 2.7 (EVEX).

#![forbid(unsafe_code)]

/// The encoding of vector instructions, and the length of vectors.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// AVX2: 16 registers of 256 bits.
    Vex256,
    /// AVX-512 VL: 32 registers of 256 bits.
    Evex256,
    /// AVX-512 F: 32 registers of 512 bits.
    Evex512,
}

impl Form {
    /// Bytes of a vector.
    pub fn bytes(self) -> usize {
        match self {
            Form::Vex256 | Form::Evex256 => 32,
            Form::Evex512 => 64,
        }
    }

    pub fn registers(self) -> u8 {
        match self {
            Form::Vex256 => 16,
            Form::Evex256 | Form::Evex512 => 32,
        }
    }

    /// True if AVX-512 instructions are available.
    pub fn is_evex(self) -> bool {
        self != Form::Vex256
    }

    /// The range of a one-byte displacement in bytes, in each direction.
    pub fn reach(self) -> i32 {
        match self {
            Form::Vex256 => 128,
            Form::Evex256 => 128 * 32,
            Form::Evex512 => 128 * 64,
        }
    }
}

/// The location of an operand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    /// A vector register.
    Register(u8),
    /// Memory, `displacement` bytes from the address in a general register. The
    /// base must not be `rsp` or `r12`, whose encodings have another meaning there.
    Memory { base: u8, displacement: i32 },
}

/// Operations of two operands.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Binary {
    And,
    /// The second operand and not the first.
    NotAnd,
    Or,
    Xor,
}

#[derive(Copy, Clone)]
struct Opcode {
    /// 1 for 0F, 2 for 0F38, 3 for 0F3A.
    map: u8,
    /// 0 for none, 1 for 66, 2 for F3.
    prefix: u8,
    byte: u8,
}

/// Writes instructions in sequence.
pub(super) struct Encoder {
    bytes: Vec<u8>,
    form: Form,
}

impl Encoder {
    pub fn new(form: Form, capacity: usize) -> Self {
        Encoder {
            bytes: Vec::with_capacity(capacity),
            form,
        }
    }

    /// The number of bytes written so far: the position of the next instruction.
    pub fn position(&self) -> usize {
        self.bytes.len()
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub fn binary(&mut self, binary: Binary, result: u8, a: u8, b: Operand) {
        let byte = match binary {
            Binary::And => 0xDB,
            Binary::NotAnd => 0xDF,
            Binary::Or => 0xEB,
            Binary::Xor => 0xEF,
        };
        let opcode = Opcode {
            map: 1,
            prefix: 1,
            byte,
        };
        self.vector(opcode, result, a, b, None);
    }

    /// Any function of three operands, the first of which is also the result. Bit
    /// `4 * first + 2 * second + third` of the table is its value.
    pub fn ternary(&mut self, first: u8, second: u8, third: Operand, table: u8) {
        debug_assert!(self.form.is_evex(), "AVX2 has no ternary instruction");
        let opcode = Opcode {
            map: 3,
            prefix: 1,
            byte: 0x25,
        };
        self.vector(opcode, first, second, third, Some(table));
    }

    pub fn load(&mut self, result: u8, from: Operand) {
        let opcode = Opcode {
            map: 1,
            prefix: 2,
            byte: 0x6F,
        };
        self.vector(opcode, result, 0, from, None);
    }

    pub fn store(&mut self, value: u8, to: Operand) {
        let opcode = Opcode {
            map: 1,
            prefix: 2,
            byte: 0x7F,
        };
        self.vector(opcode, value, 0, to, None);
    }

    /// Sets a register to zero.
    pub fn zero(&mut self, result: u8) {
        self.binary(Binary::Xor, result, result, Operand::Register(result));
    }

    /// Sets a register to ones.
    pub fn ones(&mut self, result: u8) {
        let same = Operand::Register(result);
        if self.form.is_evex() {
            self.ternary(result, result, same, 0xFF);
        } else {
            // vpcmpeqd: everything equals itself.
            let opcode = Opcode {
                map: 1,
                prefix: 1,
                byte: 0x76,
            };
            self.vector(opcode, result, result, same, None);
        }
    }

    /// Jumps back to `target` if any bit of the register is set.
    pub fn back_if_any(&mut self, register: u8, target: usize) {
        let same = Operand::Register(register);
        if self.form.is_evex() {
            // vptestmq k1, then kortestw k1, k1.
            let opcode = Opcode {
                map: 2,
                prefix: 1,
                byte: 0x27,
            };
            self.vector(opcode, 1, register, same, None);
            self.bytes.extend([0xC5, 0xF8, 0x98, 0xC9]);
        } else {
            let opcode = Opcode {
                map: 2,
                prefix: 1,
                byte: 0x17,
            };
            self.vector(opcode, register, 0, same, None);
        }
        // The distance of jne counts from its end.
        let end = self.position() + 6;
        let distance = i32::try_from(end - target).expect("code is shorter than 2 GiB");
        self.bytes.extend([0x0F, 0x85]);
        self.bytes.extend((-distance).to_le_bytes());
    }

    /// Loads a general register from the table of addresses at `rdi`.
    pub fn load_address(&mut self, register: u8, entry: usize) {
        let displacement = i8::try_from(entry * 8).expect("the table is short");
        let rex = 0x48 | register >> 3 << 2;
        let modrm = 0x40 | (register & 7) << 3 | RDI;
        self.bytes.extend([rex, 0x8B, modrm, displacement as u8]);
    }

    pub fn push(&mut self, register: u8) {
        self.short(0x50, register);
    }

    pub fn pop(&mut self, register: u8) {
        self.short(0x58, register);
    }

    /// Returns to the caller, which may use older vector instructions.
    pub fn finish(&mut self) {
        self.bytes.extend([0xC5, 0xF8, 0x77]);
        self.bytes.push(0xC3);
    }

    fn short(&mut self, opcode: u8, register: u8) {
        if register >= 8 {
            self.bytes.push(0x41);
        }
        self.bytes.push(opcode | register & 7);
    }

    /// `reg` is the operand in the middle of the ModRM byte, `extra` the one that
    /// only the prefix encodes.
    fn vector(&mut self, opcode: Opcode, reg: u8, extra: u8, rm: Operand, immediate: Option<u8>) {
        let mut code = [0u8; 16];
        // Bits 3 and 4 of the operand at the end of the ModRM byte.
        let (high, higher) = match rm {
            Operand::Register(register) => (register >> 3 & 1, register >> 4 & 1),
            Operand::Memory { base, .. } => (base >> 3 & 1, 0),
        };
        let mut length = if self.form.is_evex() {
            let wide = u8::from(self.form == Form::Evex512) + 1;
            code[0] = 0x62;
            code[1] = (!reg >> 3 & 1) << 7
                | (higher ^ 1) << 6
                | (high ^ 1) << 5
                | (!reg >> 4 & 1) << 4
                | opcode.map;
            code[2] = 0x80 | (!extra & 15) << 3 | 4 | opcode.prefix;
            code[3] = wide << 5 | (!extra >> 4 & 1) << 3;
            4
        } else if opcode.map == 1 && high == 0 {
            code[0] = 0xC5;
            code[1] = (!reg >> 3 & 1) << 7 | (!extra & 15) << 3 | 4 | opcode.prefix;
            2
        } else {
            code[0] = 0xC4;
            code[1] = (!reg >> 3 & 1) << 7 | 0x40 | (high ^ 1) << 5 | opcode.map;
            code[2] = (!extra & 15) << 3 | 4 | opcode.prefix;
            3
        };
        code[length] = opcode.byte;
        let modrm = (reg & 7) << 3;
        length += 1;
        match rm {
            Operand::Register(register) => {
                code[length] = 0xC0 | modrm | register & 7;
                length += 1;
            }
            Operand::Memory { base, displacement } => {
                debug_assert!(base & 7 != 4, "this base would need a further byte");
                // With EVEX a displacement of one byte counts vectors.
                let unit = self.form.reach() / 128;
                let units = displacement / unit;
                match i8::try_from(units) {
                    Ok(units) if i32::from(units) * unit == displacement => {
                        code[length] = 0x40 | modrm | base & 7;
                        code[length + 1] = units as u8;
                        length += 2;
                    }
                    _ => {
                        code[length] = 0x80 | modrm | base & 7;
                        code[length + 1..length + 5].copy_from_slice(&displacement.to_le_bytes());
                        length += 5;
                    }
                }
            }
        }
        if let Some(immediate) = immediate {
            code[length] = immediate;
            length += 1;
        }
        self.bytes.extend_from_slice(&code[..length]);
    }
}

/// The register of a function's first argument.
pub(super) const RDI: u8 = 7;

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

    use super::*;

    /// The disassembly of all instructions.
    fn text(encoder: Encoder) -> Vec<String> {
        let bytes = encoder.into_bytes();
        let mut decoder = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
        let mut formatter = IntelFormatter::new();
        let options = formatter.options_mut();
        options.set_space_after_operand_separator(true);
        options.set_branch_leading_zeros(false);
        let format = |instruction| {
            let mut text = String::new();
            formatter.format(&instruction, &mut text);
            text
        };
        decoder.iter().map(format).collect()
    }

    const NAMES: [&str; 16] = [
        "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
        "r13", "r14", "r15",
    ];

    #[test]
    fn instructions_disassemble_to_the_intended_text() {
        for form in [Form::Vex256, Form::Evex256, Form::Evex512] {
            let letter = if form == Form::Evex512 { 'z' } else { 'y' };
            let name = |register: u8| format!("{letter}mm{register}");
            let q = if form.is_evex() { "q" } else { "" };
            let memory = [0, 7, 1, 3, 13, 15, 5].into_iter().flat_map(|base| {
                [0, 64, -64, -4096, 4096, 8128, 8192, -8192, 33, 1 << 20]
                    .map(|displacement| Operand::Memory { base, displacement })
            });
            let operands: Vec<Operand> = (0..form.registers())
                .map(Operand::Register)
                .chain(memory)
                .collect();
            let mut encoder = Encoder::new(form, 0);
            let mut expected = Vec::new();
            let registers = form.registers();
            for (number, &operand) in operands.iter().enumerate() {
                let a = (number as u8).wrapping_mul(7) % registers;
                let b = (number as u8).wrapping_mul(11) % registers;
                let shown = match operand {
                    Operand::Register(register) => name(register),
                    Operand::Memory { base, displacement } => {
                        let base = NAMES[base as usize];
                        match displacement {
                            0 => format!("[{base}]"),
                            d if d < 0 => format!("[{base}-{}]", hexadecimal(-d)),
                            d => format!("[{base}+{}]", hexadecimal(d)),
                        }
                    }
                };
                for (binary, word) in [
                    (Binary::And, "vpand"),
                    (Binary::NotAnd, "vpandn"),
                    (Binary::Or, "vpor"),
                    (Binary::Xor, "vpxor"),
                ] {
                    encoder.binary(binary, a, b, operand);
                    expected.push(format!("{word}{q} {}, {}, {shown}", name(a), name(b)));
                }
                if form.is_evex() {
                    encoder.ternary(a, b, operand, 0xB1);
                    expected.push(format!(
                        "vpternlogq {}, {}, {shown}, 0B1h",
                        name(a),
                        name(b)
                    ));
                }
                let u = if form.is_evex() { "64" } else { "" };
                encoder.load(b, operand);
                expected.push(format!("vmovdqu{u} {}, {shown}", name(b)));
                encoder.store(b, operand);
                expected.push(format!("vmovdqu{u} {shown}, {}", name(b)));
            }
            assert_eq!(text(encoder), expected, "{form:?}");
        }
    }

    fn hexadecimal(number: i32) -> String {
        let digits = format!("{number:X}");
        let zero = if digits.starts_with(|c: char| c.is_alphabetic()) {
            "0"
        } else {
            ""
        };
        let suffix = if number < 10 { "" } else { "h" };
        format!("{zero}{digits}{suffix}")
    }

    #[test]
    fn prologue_loops_and_epilogue_disassemble_to_the_intended_text() {
        let mut encoder = Encoder::new(Form::Evex512, 0);
        encoder.push(3);
        encoder.push(13);
        encoder.load_address(13, 2);
        encoder.load_address(7, 0);
        encoder.zero(30);
        encoder.ones(17);
        encoder.back_if_any(19, 2);
        encoder.pop(15);
        encoder.finish();
        assert_eq!(
            text(encoder),
            [
                "push rbx",
                "push r13",
                "mov r13, [rdi+10h]",
                "mov rdi, [rdi]",
                "vpxorq zmm30, zmm30, zmm30",
                "vpternlogq zmm17, zmm17, zmm17, 0FFh",
                "vptestmq k1, zmm19, zmm19",
                "kortestw k1, k1",
                "jne 2",
                "pop r15",
                "vzeroupper",
                "ret",
            ]
        );
        let mut encoder = Encoder::new(Form::Vex256, 0);
        encoder.ones(9);
        encoder.back_if_any(12, 0);
        let expected = ["vpcmpeqd ymm9, ymm9, ymm9", "vptest ymm12, ymm12", "jne 0"];
        assert_eq!(text(encoder), expected);
    }
}
