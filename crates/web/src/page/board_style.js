// The styles of marks on a board, which is in a shadow tree of its own.

export const STYLE = `
:host { display: block; }
svg { display: block; margin: 0 auto; width: 100%; height: auto; background: none; border-radius: 8px; outline: none; user-select: none; -webkit-user-select: none; }
[data-cell].open { cursor: pointer; }
[data-cell].grabs { cursor: grab; }
:host(.dragging) [data-cell] { cursor: grabbing; }
.above { pointer-events: none; }
.mark { fill: none; pointer-events: none; }
.mark.last { fill: #f2bd00; fill-opacity: .45; }
.mark.hint { stroke: #00795a; stroke-width: 3; stroke-dasharray: 7 4; }
.mark.hover { fill: #2f7fd1; fill-opacity: .24; }
.mark.near { fill: #2f7fd1; fill-opacity: .62; stroke: #fff; stroke-width: 1; stroke-opacity: .7; }
.mark.near.ring { fill: none; stroke: #2f7fd1; stroke-width: 3.2; stroke-opacity: .85; }
.mark.taken { stroke: #c0392b; stroke-width: 2.5; stroke-dasharray: 3 3; }
.mark.win { stroke: #12a150; stroke-width: 4; fill: #12a150; fill-opacity: .16; }
.mark.chosen { fill: #2f7fd1; fill-opacity: .42; }
.mark.cursor { stroke: #d1267d; stroke-width: 3; }
svg:not(:focus-visible) .mark.cursor { display: none; }
.arrow { pointer-events: none; fill: #b98400; fill-opacity: .62; }
.arrow.plan { fill: #2f7fd1; fill-opacity: .72; }
.arrow.hint { fill: #00795a; fill-opacity: .72; }
.ghost { opacity: .5; pointer-events: none; }
.held { opacity: .3; }
.flying { pointer-events: none; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: center; justify-content: center; font-size: 13px; color: var(--quiet); }
.legend .entry { display: inline-flex; align-items: center; gap: 6px; }
.legend svg { flex: none; width: 24px; height: 24px; margin: 0; border-radius: 4px; }
.waiting { aspect-ratio: 1; max-width: min(460px, var(--board-height, 58vh)); margin: 0 auto; display: grid; place-items: center; border-radius: 8px; text-align: center; padding: 16px;
  background: repeating-conic-gradient(rgb(128 128 128 / 14%) 0 25%, transparent 0 50%) 0 0 / 25% 25%; animation: breathe 1.6s ease-in-out infinite alternate; }
.waiting p { margin: 0; padding: 6px 14px; border-radius: 99px; background: var(--surface); color: var(--text); font-variant-numeric: tabular-nums; }
@keyframes breathe { from { background-color: transparent; } to { background-color: rgb(128 128 128 / 10%); } }
@media (prefers-reduced-motion: reduce) { .waiting { animation: none; } }
`;
