// Made by tests/web/bundle.mjs of src/web/page, whose SHA-256 is f20ab7d7d3ff989ffa31e91cc3981a8c1d310ce0fd3ffea16c8bcbc003c2b16b.
var H=class extends Error{constructor(t,e,s){super(e),this.status=t,this.body=s}};async function xe(r,t,e){let s=t===void 0?{signal:e}:{method:"POST",headers:{"content-type":"application/json"},body:JSON.
stringify(t),signal:e},i;try{i=await fetch(r,s)}catch(h){throw h.name==="AbortError"?h:new H(0,"The server does not answer. Is `ggp web` still running?")}if(i.ok)return i;let o=await i.text(),n;try{n=
JSON.parse(o)}catch{}throw new H(i.status,n?.message??Ss(n)??(o.slice(0,300)||`The server answered ${i.status}.`),n)}function Ss(r){let t=r?.findings?.find?.(e=>e.severity==="error");return t&&`The ru\
les have errors: ${t.place?`${t.place.file}:${t.place.line}: `:""}${t.message}.`}async function S(r,t,e){return(await xe(r,t,e)).json()}async function*z(r,t,e){let i=(await xe(r,t,e)).body.pipeThrough(
new TextDecoderStream).getReader(),o="";try{for(;;){let{value:n,done:h}=await i.read();if(h)return;o+=n.replaceAll("\r","");let l=o.split(`

`);o=l.pop();for(let c of l){let u=Es(c);u&&(yield u)}}}catch(n){throw n.name==="AbortError"?n:new H(0,"The connection to the server broke.")}finally{i.cancel().catch(()=>{})}}function Es(r){let t="me\
ssage",e=[];for(let s of r.split(`
`))s.startsWith("event:")&&(t=s.slice(6).trim()),s.startsWith("data:")&&e.push(s.slice(5).trimStart());return e.length?[t,JSON.parse(e.join(`
`))]:null}var ot=()=>S("/api/games"),$e=(r,t)=>S("/api/check",r,t);function Se(r){let t;return()=>(t??=S(r).catch(e=>{throw t=void 0,e}),t)}var nt=Se("/api/players"),Ee=Se("/api/methods");var Ms="http://www.w3.org/2000/svg";function Me(r,t,e){for(let[s,i]of Object.entries(t))if(!(i==null||i===!1))if(s==="on")for(let[o,n]of Object.entries(i))r.addEventListener(o,n);else s==="value"?r.value=
i:r.setAttribute(s,i===!0?"":i);return r.append(...Te(e)),r}function Te(r){return r.flat().filter(t=>t!=null&&t!==!1)}function a(r,t={},...e){return Me(document.createElement(r),t,e)}function v(r,t={},...e){
return Me(document.createElementNS(Ms,r),t,e)}function p(r,...t){return r.replaceChildren(...Te(t)),r}var Ts={first:"M5 4v12M16 4 7.5 10l8.5 6z",last:"M15 4v12M4 4l8.5 6L4 16z",play:"M6 4l10 6-10 6z",
pause:"M6.5 4v12M13.5 4v12",close:"M5 5l10 10M15 5 5 15",add:"M10 4v12M4 10h12",dark:"M15.5 12.2A6.5 6.5 0 0 1 7.8 4.5a6.5 6.5 0 1 0 7.7 7.7z",light:"M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M10 1.5\
v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6 16 16M4 16l1.4-1.4M14.6 5.4 16 4"};function T(r){return v("svg",{viewBox:"0 0 20 20",width:16,height:16,class:"icon","aria-hidden":"true"},v("path",
{d:Ts[r]}))}function m(r,t,e={}){return a("button",{type:"button",...e,on:{click:t}},r)}function b(){let r=a("p",{class:"trouble",role:"alert",hidden:!0});return r.say=t=>{r.textContent=t??"",r.hidden=
!t},r}function Ae(){return new Promise(r=>{requestAnimationFrame(()=>setTimeout(r)),setTimeout(r,100)})}function C(r,t){let e=0,s=(...i)=>{clearTimeout(e),e=setTimeout(()=>t(...i),r)};return s.cancel=
()=>clearTimeout(e),s}async function Ht(r,t){try{await navigator.clipboard.writeText(r)}catch{let s=a("textarea",{value:r,class:"copied",readonly:!0});document.body.append(s),s.select(),document.execCommand(
"copy"),s.remove()}let e=t.textContent;t.textContent="Copied",setTimeout(()=>{t.textContent=e},1200)}async function N(r){try{let t=new TextDecoder("utf-8",{fatal:!0}).decode(await r.arrayBuffer());if(!t.
includes("\0"))return t}catch(t){if(!(t instanceof TypeError))throw t}throw new Error(`${r.name} is no text (in UTF-8), so it cannot be read here.`)}function Le(r,t,e){let s=a("a",{download:r,href:URL.
createObjectURL(new Blob([t],{type:e}))});s.click(),setTimeout(()=>URL.revokeObjectURL(s.href),1e4)}function zt(r){let t=[],e=0,s="";for(let[i]of r.matchAll(/[()]|[^\s()]+/g)){if(i===")"){if(e===0)throw new SyntaxError("a bracket closes that was never opened");e-=1,s+=")"}else s+=(s===""||s.endsWith(
"(")?"":" ")+i,i==="("&&(e+=1);e===0&&(t.push(s),s="")}if(e>0)throw new SyntaxError("a bracket is not closed");return t}function Ce(r){return zt(String(r)).join(" ")}var As=32*1024;function at(r){let[t,e=""]=Oe(r.replace(/^#?\/?/,""),"?"),s={};for(let o of e.split("&").filter(Boolean)){let[n,h=""]=Oe(o,"=");s[n]=_t(h)}let i={moves:Jt(s.moves)??[],then:Jt(s.then)??
[],damaged:Jt(s.moves)===null,seats:s.seats?s.seats.split(";"):null,key:s.key??null,seat:s.seat===void 0?null:Number(s.seat),words:s};return t===""?{...i,page:"home"}:t==="edit"?{...i,page:"edit"}:t.startsWith(
"rules=")?{...i,page:"game",rules:t.slice(6)}:t.startsWith("table/")?{...i,page:"table",table:_t(t.slice(6))}:{...i,page:"game",game:_t(t)}}function Oe(r,t){let e=r.indexOf(t);return e<0?[r]:[r.slice(
0,e),r.slice(e+1)]}function _t(r){try{return decodeURIComponent(r)}catch{return r}}function Jt(r){try{return(r??"").split(";").map(zt).filter(t=>t.length>0)}catch{return null}}function A(r,{moves:t=[],
then:e=[],seats:s=null}){let i=[],o=n=>n.map(h=>h.map(encodeURIComponent).join("%20")).join(";");return t.length&&i.push(`moves=${o(t)}`),e.length&&i.push(`then=${o(e)}`),s&&i.push(`seats=${s.map(encodeURIComponent).
join(";")}`),`#/${r}${i.length?`?${i.join("&")}`:""}`}async function je(r,t){let e=new Blob([r]).stream().pipeThrough(t);return new Uint8Array(await new Response(e).arrayBuffer())}async function Re(r){
if(typeof CompressionStream>"u")return null;let t=await je(new TextEncoder().encode(JSON.stringify(r)),new CompressionStream("deflate-raw")),e="";for(let i=0;i<t.length;i+=4096)e+=String.fromCharCode(
...t.subarray(i,i+4096));let s=btoa(e).replaceAll("+","-").replaceAll("/","_").replaceAll("=","");return s.length<As?s:null}async function rt(r){let t=atob(r.replaceAll("-","+").replaceAll("_","/")),e=await je(
Uint8Array.from(t,i=>i.charCodeAt(0)),new DecompressionStream("deflate-raw")),s=JSON.parse(new TextDecoder().decode(e));if(!Array.isArray(s.files))throw new Error("there are no rule files in it");return s}var Ne="rules ";function Ls(r){try{return JSON.parse(sessionStorage.getItem(Ne+r))}catch{return null}}function qe(r,t){try{sessionStorage.setItem(Ne+r,JSON.stringify(t))}catch{}}var L=class r{constructor(t,e=null){
Object.assign(this,t),this.rules=e??{files:t.files,picture:t.picture??null},this.path=encodeURIComponent(t.id)}static async named(t){try{let e=new r(await S(`/api/games/${encodeURIComponent(t)}`));return e.
bundled?e:await e.addressed()}catch(e){let s=Ls(t);if(e.status!==404||!s)throw e;return r.loaded(s)}}static async loaded(t){return new r(await S("/api/games",t),t).addressed()}async addressed(){qe(this.
id,this.rules);let t=await Re(this.rules);return t&&(this.path=`rules=${t}`),this}get title(){return _(this)}async reload(){this.id=(await S("/api/games",this.rules)).id,qe(this.id,this.rules)}async again(t){
try{return await t()}catch(e){if(e.status!==404||this.bundled)throw e;return await this.reload(),t()}}ask(t,e,s){return this.again(()=>S(`/api/games/${encodeURIComponent(this.id)}/${t}`,e,s))}async*events(t,e,s){
let i=!1;for(let o=0;;o+=1)try{for await(let n of z(`/api/games/${encodeURIComponent(this.id)}/${t}`,e,s))i=!0,yield n;return}catch(n){if(i||o>0||n.status!==404||this.bundled)throw n;await this.reload()}}};
function P(r){let t=s=>s.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean),e=t(_(r));return t(r.name).every(s=>e.includes(s))?null:r.name}function _({name:r,about:t}){let e=(t??"").trim().split(`\

`)[0].trim();return e&&e.length<=60&&!e.includes(":")?e:r}var Kt=3e3,ht=class{constructor(t){this.heard=t,this.search=a("input",{type:"search",placeholder:"Search moves","aria-label":"Search moves",class:"search"}),this.search.addEventListener("input",C(60,()=>this.
render())),this.search.addEventListener("keydown",e=>{let s=this.list.querySelector("button.move:not([disabled])");e.key==="Enter"&&s&&s.click(),e.key==="ArrowDown"&&s&&s.focus()}),this.about=a("div",
{class:"about-spots",hidden:!0}),this.list=a("div",{class:"move-list"}),this.list.addEventListener("click",e=>this.clicked(e)),this.list.addEventListener("pointerover",e=>this.hovered(e)),this.list.addEventListener(
"focusin",e=>this.hovered(e)),this.list.addEventListener("pointerleave",()=>t.onHover([])),this.list.addEventListener("keydown",e=>this.walked(e)),this.element=a("section",{class:"panel moves","aria-l\
abel":"Legal moves"},a("h2",{},"Moves"),this.search,this.about,this.list)}show(t,e){this.groups=t,this.spots=e,this.render()}render(){let t=this.wanted();this.rows=[];let e=(this.groups??[]).map(i=>this.
section(i,t)),s=this.list.contains(document.activeElement);if(p(this.list,e.length?e:a("p",{class:"quiet"},"The game is over: nobody can move.")),s&&(this.list.querySelector("button.move")??this.search).
focus({preventScroll:!0}),this.about.hidden=this.spots.length===0,this.spots.length){let i=this.groups.filter(o=>o.state==="open").reduce((o,n)=>o+n.moves.filter(h=>I(h,this.spots)).length,0);p(this.about,
`${y(i,"move")} about ${this.spots.length===1?"this place":"these places"}`,m("Clear",()=>this.heard.onClear(),{class:"small"}))}}wanted(){let t=this.search.value.toLowerCase().split(/\s+/).filter(Boolean),
e=t.join(" ");return(this.groups??[]).filter(({state:i})=>i!=="chosen").flatMap(i=>i.moves).some(({move:i})=>i.toLowerCase().includes(e))?[e]:t}section({role:t,name:e,moves:s,state:i,back:o},n){if(i===
"chosen")return a("div",{class:"group"},a("h3",{},e),a("p",{class:"quiet"},"Has chosen; hidden until all have. ",o&&m("Choose again",()=>this.heard.onBack(t),{class:"small"})));let h=s.toSorted((u,d)=>Cs(
u.move,d.move)).filter(u=>(i!=="open"||I(u,this.spots))&&n.every(d=>u.move.toLowerCase().includes(d))),l=h.slice(0,Kt).map(u=>this.row(t,e,u,i)),c=h.length===s.length?y(s.length,"move"):`${h.length} o\
f ${y(s.length,"move")}`;return a("div",{class:`group ${i}`},a("h3",{},e,a("span",{class:"quiet"},i==="single"?" \xB7 no choice":` \xB7 ${c}`)),a("ul",{},...l),h.length>Kt&&a("p",{class:"quiet"},`${h.
length-Kt} more: search to see them.`))}row(t,e,s,i){let o=this.rows.push({role:t,name:e,move:s})-1,n=a(i==="open"?"button":"span",{class:"move",type:i==="open"?"button":null},s.move),h=a("button",{type:"\
button",class:"why","aria-label":`Why is ${s.move} legal?`},"why?");return a("li",{"data-row":o,"data-why":`(legal ${e} ${s.move})`},n,h)}of(t){let e=t.target.closest("[data-row]");return e?this.rows[Number(
e.dataset.row)]:null}clicked(t){let e=this.of(t);e&&(t.target.closest(".why")?this.heard.onWhy(t.target.closest("[data-why]").dataset.why):t.target.closest("button.move")&&this.heard.onMove(e.role,e.move.
move))}hovered(t){this.heard.onHover(this.of(t)?.move.spots??[])}walked(t){if(t.key!=="ArrowDown"&&t.key!=="ArrowUp")return;let e=[...this.list.querySelectorAll("button.move")],s=e.indexOf(t.target.closest(
"li")?.querySelector("button.move"));(e[s+(t.key==="ArrowDown"?1:-1)]??(t.key==="ArrowUp"?this.search:null))?.focus(),t.preventDefault()}},Cs=new Intl.Collator("en",{numeric:!0}).compare;function I(r,t){
return t.every(e=>r.spots.some(s=>s.join(" ")===e))}function y(r,t){return`${r.toLocaleString("en")} ${t}${r===1?"":"s"}`}var Pe="draft",J="earlier draft",Os=350,js=2e5,Ie=`; Two players name a number; the higher one wins.

(role left)
(role right)

(number 1) (number 2) (number 3)
(higher 2 1) (higher 3 1) (higher 3 2)

(init open)
(<= (legal ?player (name ?number))
    (role ?player)
    (number ?number)
    (true open))
(<= (next (named ?player ?number))
    (does ?player (name ?number)))

(<= terminal
    (not (true open)))

(<= (beaten ?player)
    (true (named ?player ?low))
    (true (named ?other ?high))
    (higher ?high ?low))
(<= decided
    (beaten ?player))
(<= (goal ?player 0)
    (beaten ?player))
(<= (goal ?player 100)
    (role ?player)
    decided
    (not (beaten ?player)))
(<= (goal ?player 50)
    (role ?player)
    (not decided))
`;function Vt(r){try{return JSON.parse(localStorage.getItem(r))}catch{return null}}function lt(r,t){try{localStorage.setItem(r,JSON.stringify(t))}catch{}}var Fe=({text:r})=>/\(\s*role\s/i.test(r);async function Yt(r){
let t={files:[],picture:null};for(let e of r){let s=await N(e);e.name.endsWith(".toml")?t.picture=s:t.files.push({name:e.name,text:s})}return t}var ct=class{constructor(t,e,s=null){this.onPlay=e;let i=Vt(
Pe);t&&i&&JSON.stringify(t)!==JSON.stringify(i)&&lt(J,i),this.rules=t??i??{files:[{name:"rules.kif",text:""}],picture:null},this.rules.files.length===0&&this.rules.files.push({name:"rules.kif",text:""}),
this.at=0,this.findings=s??[],this.numbers=a("pre",{class:"numbers","aria-hidden":"true"}),this.behind=a("pre",{class:"behind","aria-hidden":"true"}),this.text=a("textarea",{class:"rules",wrap:"off",spellcheck:"\
false",autocapitalize:"off",autocomplete:"off","aria-label":"Rules",placeholder:"Paste rules in GDL here, or drop files."}),this.text.addEventListener("input",()=>this.typed()),this.text.addEventListener(
"scroll",()=>this.scrolled()),this.text.addEventListener("keydown",n=>this.key(n)),this.tabs=a("div",{class:"files"}),this.state=a("p",{class:"state","aria-live":"polite"}),this.list=a("ol",{class:"fi\
ndings"}),this.trouble=b(),this.play=m("Play",()=>this.start(),{class:"strong",disabled:!0});let o=a("input",{type:"file",multiple:!0,accept:".kif,.gdl,.txt,.toml",hidden:!0});o.addEventListener("chan\
ge",()=>this.take(o.files)),this.picture=a("p",{class:"quiet",hidden:!0}),this.before=m("What you typed before",()=>this.earlier(),{class:"small",hidden:Vt(J)===null}),this.other=a("p",{class:"quiet",
role:"status",hidden:!0},"These files are another game than what stood here, which \u201CWhat you typed before\u201D brings back."),this.element=a("section",{class:"editor","aria-label":"Your own rule\
s"},a("h1",{tabindex:"-1"},"Your own rules"),a("p",{class:"quiet"},"Paste rules in GDL, or drop one or several files here: several are one rule set. They are checked as you type."),a("div",{class:"lin\
e-of"},this.tabs,m("Open files \u2026",()=>o.click(),{class:"small"}),o,m("An example",()=>this.example(),{class:"small"}),this.before),a("div",{class:"pane"},this.numbers,a("div",{class:"layers"},this.
behind,this.text)),this.other,this.picture,a("div",{class:"line-of"},this.play,this.state),this.trouble,this.list),this.check=C(Os,()=>this.ask()),this.drops(this.element),this.open(0),s&&this.said({right:!1,
findings:s,omitted:0}),this.ask()}drops(t){t.addEventListener("dragover",e=>{e.preventDefault(),t.classList.add("over")}),t.addEventListener("dragleave",()=>t.classList.remove("over")),t.addEventListener(
"drop",e=>{e.preventDefault(),t.classList.remove("over"),this.take(e.dataTransfer.files)})}async take(t){this.trouble.say("");let e;try{e=await Yt(t)}catch(n){this.trouble.say(n.message);return}let{files:s,
picture:i}=e,o=this.rules.files.filter(n=>n.text.trim()!==""&&!s.some(h=>h.name===n.name));s.some(Fe)&&o.some(Fe)&&(lt(J,this.rules),this.before.hidden=!1,this.other.hidden=!1,this.rules={files:[],picture:null},
o=[]),this.rules.files=[...o,...s],this.rules.files.length===0&&this.rules.files.push({name:"rules.kif",text:""}),this.rules.picture=i??this.rules.picture,this.open(Math.max(0,this.rules.files.length-
s.length)),this.typed()}example(){this.text.value.trim()&&!this.text.value.startsWith("; Two players name")?(this.rules.files.push({name:"example.kif",text:Ie}),this.open(this.rules.files.length-1)):this.
text.value=Ie,this.typed()}earlier(){let t=Vt(J);this.other.hidden=!0,lt(J,this.rules),this.rules=t,this.open(0),this.typed()}open(t){this.at=t,this.text.value=this.rules.files[t].text,p(this.tabs,this.
rules.files.map(({name:e},s)=>{let i=m(e,()=>this.open(s),{class:"file","aria-pressed":String(s===t)});return this.rules.files.length>1?a("span",{class:"file-tab"},i,m(T("close"),()=>this.drop(s),{class:"\
plain","aria-label":`Leave ${e} out`})):i}),m(T("add"),()=>this.add(),{class:"plain","aria-label":"Another file",title:"Another file"})),this.picture.hidden=!this.rules.picture,p(this.picture,"With a \
picture file. ",m("Leave it out",()=>{this.rules.picture=null,this.open(this.at),this.typed()},{class:"small"})),this.mark(),this.scrolled()}add(){this.rules.files.push({name:`rules-${this.rules.files.
length+1}.kif`,text:""}),this.open(this.rules.files.length-1),this.text.focus()}drop(t){this.rules.files.splice(t,1),this.open(0),this.typed()}typed(){this.rules.files[this.at].text=this.text.value,lt(
Pe,this.rules),this.findings=[],this.mark(),this.play.disabled=!0,this.state.textContent="",this.check()}key(t){t.key==="Enter"&&(t.ctrlKey||t.metaKey)&&!this.play.disabled&&this.start()}scrolled(){this.
behind.style.transform=`translate(${-this.text.scrollLeft}px, ${-this.text.scrollTop}px)`,this.numbers.style.transform=`translateY(${-this.text.scrollTop}px)`}async ask(){if(this.rules.files.every(t=>t.
text.trim()==="")){this.said({right:!1,findings:[],omitted:0}),this.state.textContent="";return}this.stop?.abort(),this.stop=new AbortController,this.state.textContent="Checking \u2026";try{this.said(
await $e({files:this.rules.files,picture:this.rules.picture??null},this.stop.signal)),this.trouble.say("")}catch(t){if(t.name==="AbortError")return;this.state.textContent="",this.trouble.say(t.message)}}said({
right:t,findings:e,omitted:s}){this.findings=e,this.play.disabled=!t;let i=e.filter(h=>h.severity==="error").length,o=e.length-i,n=[i&&y(i,"error"),o&&y(o,"warning")].filter(Boolean).join(", ");this.state.
textContent=t?`The rules are right${n?`; ${n}`:""}.`:n||"These are not yet rules of a game.",this.state.className=`state ${t?"right":"wrong"}`,p(this.list,e.map(h=>this.finding(h)),s>0&&a("li",{class:"\
quiet"},`${s} more.`)),this.mark()}finding(t){let{code:e,severity:s,message:i,place:o,notes:n,help:h}=t;return a("li",{class:s},m(o?`${o.file}:${o.line}:${o.column}`:"rules",()=>this.goto(o),{class:"p\
lace",disabled:!o})," ",a("span",{class:"severity"},`${s} ${e}`)," ",a("span",{class:"message"},i),(n??[]).map(l=>a("p",{class:"note"},m(`${l.place.line}:${l.place.column}`,()=>this.goto(l.place),{class:"\
place"}),` ${l.message}`)),h&&a("p",{class:"note"},h))}range({line:t,column:e,text:s}){let i=this.text.value,o=0;for(let n=1;n<t;n+=1){let h=i.indexOf(`
`,o);if(h<0)break;o=h+1}return o+=[...i.slice(o,o+4*e)].slice(0,e-1).join("").length,[o,Math.min(i.length,o+Math.max(1,s?.length??1))]}fileOf(t){return Math.max(0,this.rules.files.findIndex(({name:e})=>e===
t.file))}goto(t){if(!t)return;this.fileOf(t)!==this.at&&this.open(this.fileOf(t));let[e,s]=this.range(t);this.text.focus(),this.text.setSelectionRange(e,s);let i=Number.parseFloat(getComputedStyle(this.
text).lineHeight);this.text.scrollTop=Math.max(0,(t.line-4)*i),this.scrolled()}mark(){let t=this.text.value,e=this.findings.filter(l=>l.place&&this.fileOf(l.place)===this.at),s=new Map;for(let{severity:l,
place:c}of e)s.get(c.line)!=="error"&&s.set(c.line,l);let i=t.split(`
`).length,o=`${i} ${[...s].join()}`;o!==this.numbered&&this.number(i,s),this.numbered=o;let n=[],h=0;if(e.length>0&&t.length<=js){let l=e.map(c=>[...this.range(c.place),c]).sort((c,u)=>c[0]-u[0]);for(let[
c,u,{severity:d,message:f}]of l)c<h||(n.push(t.slice(h,c),a("mark",{class:d,title:f},t.slice(c,u))),h=u);n.push(`${t.slice(h)}
`)}p(this.behind,n)}number(t,e){let s=[],i=[],o=()=>{i.length&&s.push(`${i.join(`
`)}
`),i=[]};for(let n=1;n<=t;n+=1)e.has(n)?(o(),s.push(a("span",{class:`number ${e.get(n)}`},String(n)),`
`)):i.push(String(n));o(),p(this.numbers,s)}async start(){this.play.disabled=!0,this.trouble.say("");try{this.onPlay(await L.loaded({files:this.rules.files,picture:this.rules.picture??null}))}catch(t){
t.status===422&&t.body?.findings?this.said(t.body):this.trouble.say(t.message)}finally{this.play.disabled=!1}}leave(){this.check.cancel(),this.stop?.abort()}};var De=matchMedia("(prefers-color-scheme: dark)"),Zt=new Set;function We(){try{return localStorage.getItem("theme")}catch{return null}}function K(){let r=document.documentElement.dataset.theme;return r?
r==="dark":De.matches}function F(r){return Zt.add(r),()=>Zt.delete(r)}function Xt(r){p(r,T(K()?"light":"dark")),r.setAttribute("aria-label",K()?"Light colours":"Dark colours"),r.title=r.getAttribute("\
aria-label");for(let t of Zt)t()}function Be(){We()&&(document.documentElement.dataset.theme=We());let r=m("",()=>{document.documentElement.dataset.theme=K()?"light":"dark";try{localStorage.setItem("t\
heme",document.documentElement.dataset.theme)}catch{}Xt(r)},{class:"plain"});return De.addEventListener("change",()=>Xt(r)),Xt(r),r}var Rs=new Set(["svg","g","rect","circle","ellipse","line","polyline","polygon","path","text","tspan","title","desc","style","defs","symbol","use","pattern","clipPath","mask","linearGradient","radialG\
radient","stop","marker","image"]),Ge="rect,circle,ellipse,polygon,path",Ue={ArrowLeft:[-1,0],ArrowRight:[1,0],ArrowUp:[0,-1],ArrowDown:[0,1]},qs=2.1,Ns=`
:host { display: block; }
svg { display: block; margin: 0 auto; width: 100%; height: auto; background: none; border-radius: 8px; outline: none; }
[data-spot].open { cursor: pointer; }
.mark { fill: none; pointer-events: none; }
.mark.last { stroke: #8a8a8a; stroke-width: 2; stroke-dasharray: 3 3; }
.mark.hint { stroke: #00795a; stroke-width: 3; stroke-dasharray: 7 4; }
.mark.hover { stroke: #2f7fd1; stroke-width: 2; }
.mark.near { fill: #2f7fd1; fill-opacity: .2; stroke: #2f7fd1; stroke-width: 2; }
.mark.chosen { fill: #2f7fd1; fill-opacity: .16; stroke: #2f7fd1; stroke-width: 3.5; }
.mark.cursor { stroke: #d1267d; stroke-width: 3; }
svg:not(:focus-visible) .mark.cursor { display: none; }
`;function Ps(r){let t=new DOMParser().parseFromString(r,"image/svg+xml").documentElement;if(t.localName!=="svg"||t.getElementsByTagName("parsererror").length>0)return null;for(let e of[t,...t.querySelectorAll(
"*")]){if(!Rs.has(e.localName)){e.remove();continue}for(let{name:s,value:i}of[...e.attributes]){let o=s==="href"||s.endsWith(":href");(/^on/i.test(s)||o&&!/^(#|data:image\/(png|jpeg|webp|gif);)/.test(
i))&&e.removeAttribute(s)}}return document.importNode(t,!0)}var W=class{constructor({onSpot:t,onClear:e,still:s=!1}){this.still=s,this.element=a("div",{class:"board"}),this.shadow=this.element.attachShadow(
{mode:"open"}),this.onSpot=t,this.onClear=e,this.spots=new Map,this.marked={},this.cursor=null,this.own=new CSSStyleSheet,this.own.replaceSync(Ns)}show(t,e){if(t===this.text)return!0;this.text=null;let s=Ps(
t);if(!s)return this.shadow.replaceChildren(a("p",{},"The drawing cannot be shown; the facts below are all there is.")),this.spots.clear(),!1;let i=this.shadow.activeElement!==null,o=[...s.querySelectorAll(
"style")];this.sheet=new CSSStyleSheet,this.sheet.replaceSync(o.map(l=>l.textContent).join(`
`));for(let l of o)l.remove();this.shadow.adoptedStyleSheets=[this.sheet,this.own],this.paint();let n=s.viewBox.baseVal?.width||Number.parseFloat(s.getAttribute("width"))||300,h=s.viewBox.baseVal?.height||
Number.parseFloat(s.getAttribute("height"))||300;return s.style.maxWidth=`min(${Math.round(n*qs)}px, ${(58*n/h).toFixed(1)}vh)`,s.style.minWidth=`${Math.round(n*.5)}px`,s.removeAttribute("aria-labelle\
dby"),this.svg=s,this.layer=v("g",{"aria-hidden":"true"}),this.still||this.listen(s),this.shadow.replaceChildren(s),this.place(s,e),s.append(this.layer),i&&s.focus({preventScroll:!0}),this.mark(this.marked),
this.text=t,!0}paint(){for(let t of this.sheet?.cssRules??[])t instanceof CSSMediaRule&&(t.asks??=t.media.mediaText,t.asks.includes("prefers-color-scheme")&&(t.media.mediaText=t.asks.includes("dark")===
K()?"all":"not all"))}place(t,e){this.spots.clear();for(let s of this.still?[]:t.querySelectorAll("[data-spot]")){let i=s.dataset.spot;if(this.spots.has(i))continue;let o=s.matches(Ge)?s:s.querySelector(
Ge);if(!o)continue;let n=o.getBBox();this.spots.set(i,{group:s,shape:o,x:n.x+n.width/2,y:n.y+n.height/2}),s.id=`spot-${i.replaceAll(" ","-")}`,s.setAttribute("role","option");let h=[...s.querySelectorAll(
"text")].map(c=>c.textContent.trim()),l=s.querySelector("title")?.textContent??i;s.setAttribute("aria-label",[l,...h].filter(Boolean).join(", "))}if(this.spots.size===0){t.setAttribute("role","img"),t.
setAttribute("aria-label",e);return}t.setAttribute("tabindex","0"),t.setAttribute("role","listbox"),t.setAttribute("aria-label",`${e}. Arrows move over the places, Enter chooses, Escape clears.`),this.
cursor&&!this.spots.has(this.cursor)&&(this.cursor=null)}listen(t){t.addEventListener("click",e=>{let s=e.target.closest("[data-spot]");s&&(this.cursor=s.dataset.spot,this.onSpot(s.dataset.spot))}),t.
addEventListener("keydown",e=>{if(!(e.ctrlKey||e.metaKey||e.altKey)){if(Ue[e.key])this.walk(Ue[e.key]);else if((e.key==="Enter"||e.key===" ")&&this.cursor)this.onSpot(this.cursor);else if(e.key==="Esc\
ape")this.onClear();else return;e.preventDefault()}}),t.addEventListener("focus",()=>{let{open:e}=this.marked;this.cursor??=[...this.spots.keys()].find(s=>e?.has(s))??this.spots.keys().next().value??null,
this.mark(this.marked)})}walk([t,e]){let s=this.spots.get(this.cursor),i=null;for(let[o,{x:n,y:h}]of this.spots){if(!s){i=o;break}let l=(n-s.x)*t+(h-s.y)*e,c=Math.abs((n-s.x)*e)+Math.abs((h-s.y)*t);l>
.5&&(i===null||l+2*c<i.far)&&(i={spot:o,far:l+2*c})}this.cursor=typeof i=="string"?i:i?.spot??this.cursor,this.mark(this.marked)}mark(t){if(this.marked=t,!this.layer)return;let e=[];for(let s of["last",
"hint","near","chosen","hover"])for(let i of t[s]??[])e.push(this.outline(i,s));this.spots.has(this.cursor)&&(e.push(this.outline(this.cursor,"cursor")),this.svg.setAttribute("aria-activedescendant",`\
spot-${this.cursor.replaceAll(" ","-")}`)),this.layer.replaceChildren(...e.filter(Boolean));for(let[s,{group:i}]of this.spots)i.classList.toggle("open",t.open?.has(s)??!1),i.setAttribute("aria-selecte\
d",String(t.chosen?.has(s)??!1))}outline(t,e){let s=this.spots.get(t);if(!s)return null;let i=s.shape.cloneNode(!1);for(let o of["id","style","fill","stroke","data-spot","role","aria-label"])i.removeAttribute(
o);return i.setAttribute("class",`mark ${e}`),i}};var w="person";var ut=class{constructor(t,e){this.game=t,this.heard=e,this.seats=t.roles.map(()=>w),this.choices=new Map,this.thinking=new Map,this.paused=!1,this.node=null,this.forced=0,this.branches=!0}depart(){this.
stop(),this.node=null}arrive(t,e){this.stop(),this.node=t,this.choices.clear();let{legal:s,over:i,turn:o}=t.position;if(!i){s.forEach((h,l)=>{h.length===1&&this.choices.set(l,h[0].move)});let n=o.filter(
h=>this.seats[h]!==w);!e&&n.length>0&&(this.paused=!0),this.forced=o.length===0&&e?this.forced+1:0,o.length===0&&(!e||this.forced>40)&&(this.paused=!0),this.paused||this.go()}this.heard.onChange()}go(){
let{turn:t,over:e}=this.node.position;if(!e){if(t.length===0){this.timer=setTimeout(()=>this.complete(),350);return}for(let s of t)this.seats[s]!==w&&!this.choices.has(s)&&!this.thinking.has(s)&&this.
think(s)}}async think(t){let e=this.node,s=new AbortController,i={stop:s,thought:null};this.thinking.set(t,i);try{let o=await V(this.game,Qt(e,t,this.seats[t]),s.signal,(n,h)=>{i.thought=n,n.value!==null&&
e.values.set(t,n.value),this.heard.onThought(t,n,h)},n=>this.heard.onTree(t,e,n));if(this.thinking.get(t)!==i)return;this.thinking.delete(t),this.choices.set(t,o),this.complete()}catch(o){if(o.name===
"AbortError"||this.thinking.get(t)!==i)return;this.thinking.delete(t),this.heard.onStop(t),this.paused=!0,this.heard.onTrouble(o.message),this.heard.onChange()}}choose(t,e){this.node&&(this.choices.set(
t,e),this.paused=!1,this.go(),this.complete())}back(t){this.choices.delete(t),this.heard.onChange()}complete(){let t=this.seats.map((e,s)=>this.choices.get(s));t.every(e=>e!==void 0)?this.heard.onJoint(
t):this.heard.onChange()}stateOf(t){let{turn:e,over:s}=this.node?.position??{over:!0};return s?"others":e.includes(t)?this.thinking.has(t)?"thinking":this.choices.has(t)?"chosen":this.seats[t]===w?"op\
en":"others":"single"}get secret(){return this.node!==null&&this.node.position.turn.some(t=>this.seats[t]===w&&!this.choices.has(t))}get waits(){let{over:t,turn:e}=this.node?.position??{over:!0};return!t&&
(e.length===0||e.some(s=>this.seats[s]!==w&&!this.choices.has(s)))}pause(){this.paused=!0,this.stop(),this.heard.onChange()}resume(){this.paused=!1,this.forced=0,this.node&&this.go(),this.heard.onChange()}moveNow(){
for(let[t,{stop:e,thought:s}]of[...this.thinking])s&&(this.thinking.delete(t),e.abort(),this.heard.onThought(t,s,!1),this.choices.set(t,s.move));this.complete()}sit(t,e){this.seats[t]=e;let s=this.thinking.
get(t);this.thinking.delete(t),s?.stop.abort(),s&&this.heard.onStop(t),this.choices.delete(t);let i=this.node?.position.legal[t]??[];i.length===1&&this.choices.set(t,i[0].move),this.seats.includes(w)||
(this.paused=!0),this.node&&!this.paused&&this.go(),this.heard.onChange()}stop(){clearTimeout(this.timer);let t=[...this.thinking];this.thinking.clear();for(let[e,{stop:s}]of t)s.abort(),this.heard.onStop(
e)}};function Qt(r,t,e){return{moves:r.moves(),role:t,player:e,tree:600}}async function V(r,t,e,s,i=()=>{}){for(;;)try{for await(let[o,n]of r.events("think",t,e)){if(o==="failed")throw new Error(n.message);
if(o==="tree"?i(n):s(n,o==="thought"),o==="move")return n.move}throw new Error("The player stopped without a move.")}catch(o){if(o.status!==429)throw o;await new Promise(n=>{setTimeout(n,700)}),e.throwIfAborted()}}
function dt(r){let[t,e=""]=r.split(/:(.*)/s),[s,...i]=e.split(","),o=/^[\d.]+s?$/.test(s);return{kind:t,time:o?s:"",options:(o?i:[s,...i]).filter(Boolean).join(",")}}function He({kind:r,time:t,options:e}){
let s=[t,e].filter(Boolean).join(",");return s?`${r}:${s}`:r}function ze(r,t){let e=t.find(i=>i.name==="auto")??t.find(i=>i.thinks)??t[0],s=r.findIndex(i=>!i.random);return r.map((i,o)=>o===s||!e?w:i.
random&&t.some(n=>n.name==="random")?"random":e.thinks?`${e.name}:1s`:e.name)}var pt=class{constructor(t){this.view=t,this.pause=m("Pause",()=>t.match.paused?t.match.resume():t.match.pause()),this.now=m("Move now",()=>t.match.moveNow(),{title:"Take the best move found so far"}),
this.ask=m("Hint",()=>this.stop?this.stop.abort():this.hint()),this.kind=a("select",{"aria-label":"Who gives the hint"}),this.hints=a("span",{class:"hints",hidden:!0},this.ask," by ",this.kind),this.element=
a("div",{class:"controls"},this.pause,this.now,this.hints)}offer(t){let e=t.filter(s=>s.thinks);p(this.kind,e.map(({name:s,what:i})=>a("option",{value:s,title:i},s))),e.some(({name:s})=>s==="mcts")&&(this.
kind.value="mcts")}show(){let{match:t}=this.view,e=t.thinking.size>0;this.pause.hidden=!(e||t.waits)||!t.branches,this.pause.textContent=t.paused?"Go on":"Pause",this.pause.classList.toggle("strong",t.
paused),this.now.hidden=!e||![...t.thinking.values()].some(s=>s.thought),this.hints.hidden=this.kind.options.length===0||this.view.active<0&&!this.stop,this.ask.textContent=this.stop?"Stop":"Hint"}grow(){
[...this.kind.options].some(({value:e})=>e==="mcts")&&!this.stop&&this.view.active>=0&&this.hint("mcts:5s")}async hint(t=`${this.kind.value}:2s`){let{view:e}=this,s=e.active,i=e.history.here;this.stop=
new AbortController,this.show(),e.think.clear(),e.tabs.choose("Thinking");try{await V(e.game,Qt(i,s,t),this.stop.signal,(o,n)=>{e.history.here===i&&(e.think.show(s,t,o,n,h=>e.move(s,h)),e.hint=e.spotsOf(
s,o.move),e.mark({}))},o=>e.think.grown(s,t,i,o))}catch(o){e.history.here===i&&e.think.stopped(s),o.name!=="AbortError"&&e.trouble.say(o.message)}finally{this.stop=null,this.show()}}leave(){this.stop?.
abort()}};var te=3e3,mt=class{constructor(t){this.onWhy=t,this.summary=a("summary",{},"Facts"),this.search=a("input",{type:"search",class:"search",placeholder:"Search facts","aria-label":"Search facts"}),this.search.
addEventListener("input",C(60,()=>this.render())),this.list=a("ul",{class:"facts"}),this.letters=a("pre",{class:"letters"}),this.list.addEventListener("click",s=>{s.target.closest(".why")&&t(s.target.
closest("[data-why]").dataset.why)});let e=a("details",{class:"unfold"},this.summary,this.search,this.list);e.addEventListener("toggle",()=>this.render()),this.folded=e,this.element=a("div",{class:"be\
low"},e,a("details",{class:"unfold"},a("summary",{},"The drawing in letters"),this.letters))}show({facts:t,text:e}){this.facts=t,this.letters.textContent=e,this.summary.textContent=`Facts (${t.length.
toLocaleString("en")})`,this.render()}render(){if(!this.folded.open||!this.facts)return;let t=this.search.value.trim().toLowerCase().split(/\s+/).filter(Boolean),e=this.facts.filter(s=>t.every(i=>s.toLowerCase().
includes(i)));p(this.list,e.slice(0,te).map(s=>a("li",{"data-why":`(true ${s})`},a("code",{},s),a("button",{type:"button",class:"why","aria-label":`Why ${s}?`},"why?"))),e.length>te&&a("li",{class:"qu\
iet"},`${y(e.length-te,"fact")} more: search to see them.`))}};var ft=class{constructor(){this.nodes=[],this.arcs=[],this.levels=[],this.alike=new Map,this.complete=!1}grow({nodes:t,arcs:e}){let s=t.map(i=>{let o={...i,in:[],out:[],lost:!1};return this.nodes[o.id]=
o,this.levels[o.level]=(this.levels[o.level]??0)+1,this.alike.has(o.same)||this.alike.set(o.same,[]),this.alike.get(o.same).push(o),o});for(let{from:i,to:o,move:n}of e){let h={from:this.nodes[i],to:this.
nodes[o],move:n,chance:this.arcs.length*.618034%1};h.repeats=h.to.level<=h.from.level,h.from.out.push(h),h.to.in.push(h),this.arcs.push(h)}return s}end({complete:t,dead:e}){this.complete=t;for(let s of e)
this.nodes[s].lost=!0}kind(t){return t.status==="solved"?"solved":t.status==="dead"?"end":t.lost?"lost":t.out.length>0||this.complete?"open":"fresh"}waysTo(t){let e=new Set(t),s=new Set;for(let i of e)
for(let o of i.in)o.repeats||(s.add(o),e.add(o.from));return{nodes:e,arcs:s}}countWays(t){let{nodes:e,arcs:s}=this.waysTo([t]),i=new Map;for(let o of[...e].sort((n,h)=>n.level-h.level)){let n=o.in.reduce(
(h,l)=>s.has(l)?h+i.get(l.from):h,0);i.set(o,o.id===0?1:n)}return i.get(t)}nearest(){let t=[];for(let e of this.nodes)e.status!=="solved"||t[0]?.level<e.level||(t[0]?.level>e.level&&(t=[]),t.push(e));
return t}way(t){let e=[];for(let s=t;s.from!==null&&s.from!==void 0;s=this.nodes[s.from])e.push(s.way);return e.reverse()}};var _e=400,gt=class{constructor(t,{onGo:e,onClose:s}){Object.assign(this,{game:t,onGo:e,onClose:s}),this.board=new W({still:!0}),this.board.element.classList.add("still"),this.trouble=b(),this.said=a(
"div",{"aria-live":"polite"}),this.facts=a("div"),this.element=a("section",{class:"glance","aria-label":"The chosen position",hidden:!0},this.said,this.board.element,this.trouble,this.facts),this.ended=
F(()=>this.board.paint())}async show(t,e,s,i){this.node=t,this.element.hidden=!1,this.trouble.say(""),p(this.said,a("h3",{},s),i.map(o=>a("p",{},o)),a("div",{class:"line-of"},m("Go there",()=>this.onGo(
t),{class:"strong small"}),m("Close",()=>this.onClose(),{class:"small"}))),this.stop?.abort(),this.stop=new AbortController;try{if(t.position??=await this.game.ask("position",{moves:e},this.stop.signal),
this.node!==t)return;let{svg:o,facts:n,goals:h,over:l}=t.position;this.board.element.hidden=!1,this.board.show(o,s);let c=this.game.roles.map(({name:u},d)=>h[d]===null?null:`${u} ${h[d]}`).filter(Boolean);
p(this.facts,l&&a("p",{},`The game is over here${c.length?`: ${c.join(", ")}`:""}.`),a("details",{class:"unfold"},a("summary",{},`Facts (${n.length.toLocaleString("en")})`),a("ul",{class:"facts"},n.slice(
0,_e).map(u=>a("li",{},a("code",{},u))),n.length>_e&&a("li",{class:"quiet"},"\u2026"))))}catch(o){if(o.name==="AbortError"||this.node!==t)return;this.board.element.hidden=!0,p(this.facts),this.trouble.
say(o.message)}}close(){this.node=null,this.stop?.abort(),this.element.hidden=!0}leave(){this.close(),this.ended()}};var yt=class{constructor(){this.ranks=[]}add(t){for(let[e,s]of Map.groupBy(t,i=>i.level)){this.ranks[e]||(e>0&&this.settle(e-1),this.ranks[e]=[]);for(let i of s)i.pull=Je(i),i.x=i.pull;this.ranks[e]=Is(
this.ranks[e],s.sort(Ke)),Ve(this.ranks[e])}}settle(t){for(let e of this.ranks[t])e.pull=Je(e);this.ranks[t].sort(Ke),Ve(this.ranks[t])}};function Je(r){let t=0,e=0;for(let{from:s,repeats:i}of r.in)i||
(t+=s.goal,e+=1);return e>0?t/e:.5}function Ke(r,t){return r.pull-t.pull||r.id-t.id}function Is(r,t){let e=[],s=0;for(let i of t){for(;s<r.length&&r[s].pull<=i.pull;)e.push(r[s++]);e.push(i)}return e.
concat(r.slice(s))}function Ve(r){r.forEach((t,e)=>{t.goal=(e+.5)/r.length})}function Ye(r){let t=[],e=0,s=(i,o)=>{i.level=o,(t[o]??=[]).push(i);for(let{to:l}of i.out)s(l,o+1);let[n,h]=[i.out[0]?.to,i.
out.at(-1)?.to];i.goal=n?(n.goal+h.goal)/2:(e+=1)-.5};s(r,0);for(let i of t.flat())i.goal/=e;return t}var Fs=Array.from({length:10},(r,t)=>{let e=t%2===0?1.45:.62,s=Math.PI*(t/5-.5);return[e*Math.cos(s),e*Math.sin(s)]}),Ws=[[-1,-.55],[-.55,-1],[0,-.45],[.55,-1],[1,-.55],[.45,0],[1,.55],[.55,1],[0,.45],
[-.55,1],[-1,.55],[-.45,0]],ee={solved:{corners:Fs},end:{corners:[[-.9,-.9],[.9,-.9],[.9,.9],[-.9,.9]]},lost:{corners:Ws},fresh:{hollow:!0},ended:{corners:[[-.9,-.9],[.9,-.9],[.9,.9],[-.9,.9]]}};function se(r){
return ee[r]?.hollow??!1}function Xe(r,t,e,s,i){let o=ee[t]?.corners;if(!o){r.moveTo(e+i,s),r.arc(e,s,i,0,2*Math.PI);return}o.forEach(([n,h],l)=>r[l===0?"moveTo":"lineTo"](e+i*n,s+i*h)),r.closePath()}
function j(r,t=r){let e=ee[r]?.corners,s=se(r)?{fill:"none",stroke:"currentColor","stroke-width":2}:{fill:"currentColor"};return v("svg",{viewBox:"-9 -9 18 18",width:16,height:16,class:`look-${t}`,"ar\
ia-hidden":"true"},e?v("polygon",{points:e.map(([i,o])=>`${5*i},${5*o}`).join(" "),...s}):v("circle",{r:5,...s}))}var Ds=2e4,Bs=4e3,Gs=100,Us=300,Ze=250,wt=300,Hs=6.7;function Qe(r,t,e,[s,i],o){let n=new ie(r,t,e,s,i,o);r.clearRect(0,0,s,i),r.lineCap="round";let h=n.arcs(),l=n.nodes();return n.rings(),n.levels(),
r.globalAlpha=1,{arcs:h,nodes:l}}var ie=class{constructor(t,e,s,i,o,n){Object.assign(this,{context:t,scene:e,view:s,width:i,height:o,state:n})}at({x:t,level:e}){return[this.view.left+t*this.view.kx,this.
view.top+e*this.view.ky]}sight({from:t,to:e}){let[s,i]=this.at(t),[o,n]=this.at(e),{width:h,height:l}=this;if(s<0&&o<0||s>h&&o>h||i<0&&n<0||i>l&&n>l)return 0;let c=(u,d)=>u>=0&&u<=h&&d>=0&&d<=l;return c(
s,i)||c(o,n)?2:1}arcs(){let{scene:t,state:{moving:e}}=this,s={through:[],faint:[],plain:[],again:[],lit:[]};for(let h of t.arcs){let l=t.repeats||!h.repeats?this.sight(h):0;if(l===0)continue;let c=t.lit.
arcs.has(h)?"lit":l===1?"through":h.repeats?"again":t.isFaint(h.to)?"faint":"plain";s[c].push(h)}let i=Object.values(s).reduce((h,l)=>h+l.length,0),o=e?Bs:Ds;for(let[h,l]of Object.entries(s)){let c=(h===
"through"?Us:o)/(h==="through"?l.length:i);if(c>=1)continue;let u=new Map;for(let{from:d}of l)u.set(d.level,(u.get(d.level)??0)+1);s[h]=l.filter(({chance:d,from:f})=>d<c||h!=="through"&&u.get(f.level)<=
Gs)}this.lines(s.through,"arc",.12,1),this.washed(s.faint,"arc",.4),this.washed(s.plain,"arc",1),this.context.setLineDash(s.again.length<600?[4,3]:[]),this.washed(s.again,"again",1.2),this.context.setLineDash(
[]);let n=s.lit.length;return this.lines(s.lit,"lit",Math.max(.3,Math.min(1,Math.sqrt(150/n))),n<150?2.2:n<600?1.4:1),Object.values(s).reduce((h,l)=>h+l.length,0)}washed(t,e,s){let i=Map.groupBy(t,({from:o})=>o.
level);for(let o of i.values())this.lines(o,e,Math.max(.13,Math.min(.9,Math.sqrt(60/o.length)))*s,1)}lines(t,e,s,i){let{context:o}=this;o.strokeStyle=this.state.colours[e],o.globalAlpha=Math.min(1,s),
o.lineWidth=i;for(let n=0;n<t.length;n+=wt){o.beginPath();for(let h of t.slice(n,n+wt))this.line(h);o.stroke()}}line({from:t,to:e,repeats:s}){let{context:i}=this,[o,n]=this.at(t),[h,l]=this.at(e);if(i.
moveTo(o,n),t===e)i.arc(o-9,n,9,0,2*Math.PI);else if(s){let c=.12+12/Math.max(Math.hypot(h-o,l-n),24);i.quadraticCurveTo((o+h)/2+c*(n-l),(n+l)/2+c*(h-o),h,l)}else i.lineTo(h,l)}part(t){if(!this.state.
settled)return t;let{left:e,kx:s}=this.view;return t.slice(vt(t,(-20-e)/s),vt(t,(this.width+20-e)/s))}nodes(){let{scene:t,view:{ky:e,kx:s,top:i},state:{colours:o}}=this,n=new Map,h=[],l=0,c=Math.max(0,
Math.floor((-20-i)/e)),u=Math.min(t.ranks.length-1,Math.ceil((this.height+20-i)/e));for(let d=c;d<=u;d+=1){let f=t.ranks[d],g=Math.min(s/f.length,e),E={},k=this.part(f);for(let[M,$]of k.entries()){let[
x,U]=this.at($),Gt=t.kind($),et=t.look($,Gt),st=t.lit.nodes.has($);if(!st&&Math.abs(x-E[et])<.9)continue;E[et]=x;let it=Math.max(t.radius($,g),st?2.5:0),Ut=`${Gt} ${et} ${t.isFaint($)&&!st}`;n.has(Ut)||
n.set(Ut,{kind:Gt,look:et,faint:t.isFaint($)&&!st,spots:[]}),n.get(Ut).spots.push(x,U,it),l+=1;let ke=k[M+1]?(k[M+1].x-$.x)*s-2*it:this.width-x-it;ke>40&&e>16&&x>0&&x<this.width&&h.push([$,x+it+4,U,ke])}}
for(let d of n.values())this.discs(d,o);return h.length>Ze&&(h=h.filter(([d])=>t.lit.nodes.has(d)).slice(0,Ze)),this.words(h),l}discs({kind:t,look:e,faint:s,spots:i},o){let{context:n}=this;n.globalAlpha=
s?.4:1;let h=se(t);n.fillStyle=h?o.ground:o[e],n.strokeStyle=h?o[e]:o.ground,n.lineWidth=h?1.6:1;for(let l=0;l<i.length;l+=3*wt){n.beginPath();let c=!1;for(let u=l;u<Math.min(i.length,l+3*wt);u+=3){let[
d,f,g]=[i[u],i[u+1],i[u+2]];c||=g>2.4,g>2.4?Xe(n,t,d,f,g):n.rect(d-g,f-g,2*g,2*g)}h&&!c&&(n.fillStyle=o[e]),n.fill(),c&&n.stroke()}}words(t){let{context:e,scene:s,state:{colours:i}}=this;e.globalAlpha=
1,e.font='11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',e.textAlign="left",e.textBaseline="middle",e.lineJoin="round",e.lineWidth=3,e.strokeStyle=i.ground,e.fillStyle=i.text;for(let[
o,n,h,l]of t){let c=zs(s.words(o),Math.floor((l-6)/Hs));e.strokeText(c,n,h),e.fillText(c,n,h)}}rings(){let{context:t,scene:e,view:{kx:s,ky:i},state:{rings:o,colours:n}}=this;t.globalAlpha=1;for(let[h,
l,c]of o){t.strokeStyle=n[h],t.lineWidth=l;for(let u of c){let[d,f]=this.at(u),g=Math.min(s/e.ranks[u.level].length,i);t.beginPath(),t.arc(d,f,Math.max(e.radius(u,g),2)+3.5,0,2*Math.PI),t.stroke()}}}levels(){
let{context:t,scene:e,view:{top:s,ky:i},state:{colours:o}}=this;t.globalAlpha=1,t.font='11px system-ui, "DejaVu Sans", sans-serif',t.textAlign="left",t.textBaseline="middle",t.fillStyle=o.quiet,t.strokeStyle=
o.ground,t.lineWidth=4;let n=Math.max(1,Math.ceil(15/i));for(let h=0;h<e.ranks.length;h+=n){let l=s+h*i;l<-10||l>this.height+10||(t.strokeText(String(h),6,l),t.fillText(String(h),6,l))}}};function vt(r,t){
let[e,s]=[0,r.length];for(;e<s;){let i=e+s>>1;r[i].goal<t?e=i+1:s=i}return e}function zs(r,t){return r.length<=t?r:t<6?"":`${r.slice(0,t-1)}\u2026`}var _s=[40,22,26,30],Js=600,Ks=24,Y=[170,110],Vs=12,Ys=110,Xs=140,X=60,oe={ArrowLeft:[-1,0],ArrowRight:[1,0],ArrowUp:[0,-1],ArrowDown:[0,1]},ts=["ground","text","quiet","arc","again","lit","chosen","o\
pen","fresh","solved","end","lost",...Array.from({length:11},(r,t)=>`value-${t}`)],Zs={ranks:[],arcs:[],lit:{nodes:new Set,arcs:new Set}},D=class{constructor(t,e){this.heard=e,this.scene=Zs,this.chosen=
this.meant=this.cursor=null,this.alike=[],this.view={zoom:1,kx:1,ky:1,left:0,top:0},this.base=[1,1],this.follows=!0,this.frames=0,this.drawn={nodes:0,arcs:0},this.canvas=a("canvas",{tabindex:"0",role:"\
application","aria-label":`${t}. Arrows go from position to position, Enter opens one, plus and minus zoom, 0 shows all, arrows with Shift move the picture.`}),this.canvas.sheet=this,this.tip=a("div",
{class:"sheet-tip",hidden:!0}),this.spoken=a("p",{class:"unseen","aria-live":"polite"}),this.probes=a("span",{hidden:!0},ts.map(s=>a("span",{class:`look-${s}`}))),this.tools=a("div",{class:"sheet-tool\
s"},m("+",()=>this.enlarge(1.5),{class:"small","aria-label":"Zoom in",title:"Zoom in (+)"}),m("\u2212",()=>this.enlarge(1/1.5),{class:"small","aria-label":"Zoom out",title:"Zoom out (-)"}),m("Fit",()=>this.
fit(),{class:"small",title:"Show all (0)"})),this.element=a("div",{class:"sheet"},this.canvas,this.tools,this.tip,this.spoken,this.probes),this.pointers=new Map,this.listen(),this.watch=new ResizeObserver(
()=>this.resized()),this.watch.observe(this.canvas),this.ended=F(()=>{this.colours=null,this.request()})}spreads(t){let e=m("Large",()=>this.large(!t.classList.contains("large")),{class:"small","aria-\
pressed":"false",title:"As large as the window (Escape: not)"});this.tools.append(e),this.large=s=>{t.classList.toggle("large",s),e.textContent=s?"Small":"Large",e.setAttribute("aria-pressed",String(s))},
t.addEventListener("keydown",s=>{s.key==="Escape"&&this.large(!1)})}show(t){this.scene=t,t.ranks[this.cursor?.level]?.includes(this.cursor)||(this.cursor=null),this.meant&&!t.ranks[this.meant.level]?.
includes(this.meant)&&this.mean(null),this.settled=!1,this.follows&&this.fit(),this.request()}leave(){this.watch.disconnect(),this.ended(),this.gone=!0}get size(){return[this.canvas.clientWidth,this.canvas.
clientHeight]}at(t){return[this.view.left+t.goal*this.view.kx,this.view.top+t.level*this.view.ky]}get widest(){return this.scene.ranks.reduce((t,e)=>Math.max(t,e.length),1)}fit(){let[t,e]=this.size,[s,
i,o,n]=_s,h=o+(t<Js?Ks:0),l=Math.max(this.scene.ranks.length-1,1),c=Math.max(10,Math.min(t-s-i,this.widest*Y[0])),u=Math.max(1,Math.min((e-h-n)/l,Y[1]));this.base=[c,u],this.follows=!0,this.view={zoom:1,
kx:c,ky:u,left:s+(t-s-i-c)/2,top:h},this.request()}enlarge(t,[e,s]=this.size.map(i=>i/2)){let{view:i,base:o,widest:n}=this,h=Math.min(Math.max(i.zoom*t,.5),Math.max(2,n*Y[0]*2/o[0])),l=Math.min(o[0]*h,
Math.max(o[0],n*Y[0])),c=Math.min(o[1]*h,Math.max(o[1],Y[1]));this.view={zoom:h,kx:l,ky:c,left:e-(e-i.left)*l/i.kx,top:s-(s-i.top)*c/i.ky},this.moved()}pan(t,e){this.view.left+=t,this.view.top+=e,this.
moved()}moved(){let{view:t}=this,[e,s]=this.size,i=t.ky*Math.max(this.scene.ranks.length-1,0);t.left=Math.min(Math.max(t.left,X-t.kx),e-X),t.top=Math.min(Math.max(t.top,X-i),s-X),this.follows=!1,this.
moving=!0,clearTimeout(this.rest),this.rest=setTimeout(()=>{this.moving=!1,this.request()},Xs),this.request()}reveal(t){let[e,s]=this.size,[i,o]=this.at(t),n=Math.max(0,50-i)-Math.max(0,i-e+50),h=Math.
max(0,36-o)-Math.max(0,o-s+36);(n||h)&&this.pan(n,h)}near([t,e]){let{ranks:s}=this.scene,{left:i,top:o,kx:n,ky:h}=this.view,l=Math.round((e-o)/h),c=null;for(let u of[l,l-1,l+1]){let d=s[u]??[],f=vt(d,
(t-i)/n);for(let g of d.slice(Math.max(0,f-2),f+2)){let[E,k]=this.at(g),M=Math.max(Vs,this.scene.radius(g,Math.min(n/d.length,h))+4),$=Math.hypot(E-t,k-e);$<M&&(c===null||$<c.far)&&(c={node:g,far:$})}}
return c?.node??null}resized(){let[t,e]=this.size,s=devicePixelRatio||1;this.canvas.width=Math.round(t*s),this.canvas.height=Math.round(e*s),this.follows&&this.fit(),this.asked?this.frame(performance.
now()):this.request()}request(){this.asked||this.gone||(this.asked=requestAnimationFrame(t=>this.frame(t)))}frame(t){this.asked&&cancelAnimationFrame(this.asked),this.asked=null;let[e,s]=this.size;if(e===
0||s===0)return;this.ease(t),this.colours??=Object.fromEntries(ts.map((l,c)=>[l,getComputedStyle(this.probes.children[c]).color]));let i=this.canvas.getContext("2d"),o=devicePixelRatio||1;i.setTransform(
o,0,0,o,0,0);let n=(...l)=>l.filter(Boolean),h=[["quiet",1.5,n(this.scene.ranks[0]?.[0])],["again",2,this.alike],["chosen",2.5,n(this.chosen)],["text",2,n(this.meant??(document.activeElement===this.canvas?
this.cursor:null))]];this.drawn=Qe(i,this.scene,this.view,[e,s],{moving:this.moving||!this.settled,settled:this.settled,colours:this.colours,rings:h}),this.frames+=1,this.settled||this.request()}ease(t){
let e=matchMedia("(prefers-reduced-motion: reduce)").matches,s=Math.min(t-(this.before??t),100);if(this.before=this.settled?null:t,this.settled)return;let i=e?1:1-Math.exp(-s/Ys),o=0;for(let n of this.
scene.ranks)for(let h of n)h.x+=(h.goal-h.x)*i,o=Math.max(o,Math.abs(h.goal-h.x));if(!(o*this.view.kx>.4)){for(let n of this.scene.ranks)for(let h of n)h.x=h.goal;this.settled=!0,this.before=null}}listen(){
let{canvas:t}=this,e=({clientX:s,clientY:i})=>{let o=t.getBoundingClientRect();return[s-o.left,i-o.top]};t.addEventListener("wheel",s=>{s.preventDefault();let i=[1,16,200][s.deltaMode]??1;this.enlarge(
Math.exp(-s.deltaY*i*(s.ctrlKey?.01:.0016)),e(s))},{passive:!1}),t.addEventListener("pointerdown",s=>{t.setPointerCapture(s.pointerId),this.pointers.set(s.pointerId,e(s)),this.drags=this.pointers.size>
1}),t.addEventListener("pointermove",s=>this.dragged(s.pointerId,e(s),s.pointerType));for(let s of["pointerup","pointercancel"])t.addEventListener(s,i=>{let o=this.pointers.delete(i.pointerId);if(s===
"pointercancel"||!o||this.drags)return;let n=this.near(e(i));this.cursor=n??this.cursor,this.heard.onPick(n)});t.addEventListener("pointerleave",()=>this.mean(null)),t.addEventListener("focus",()=>{this.
cursor??=this.chosen??this.scene.ranks[0]?.[0]??null,this.request()}),t.addEventListener("blur",()=>this.mean(null)),t.addEventListener("keydown",s=>{s.ctrlKey||s.metaKey||s.altKey||this.key(s)&&(s.preventDefault(),
s.stopPropagation())})}dragged(t,e,s){let i=this.pointers.get(t);if(!i){s!=="touch"&&this.mean(this.near(e));return}let[o,n]=[e[0]-i[0],e[1]-i[1]];if(this.pointers.size===1){if(!this.drags&&Math.hypot(
o,n)<4)return;this.drags=!0,this.mean(null),this.pan(o,n)}else{let[h]=[...this.pointers].find(([c])=>c!==t).slice(1),l=c=>Math.hypot(c[0]-h[0],c[1]-h[1]);this.pan(o/2,n/2),l(i)>10&&this.enlarge(l(e)/l(
i),[(e[0]+h[0])/2,(e[1]+h[1])/2])}this.pointers.set(t,e)}key({key:t,shiftKey:e}){if(t==="+"||t==="=")this.enlarge(1.5);else if(t==="-")this.enlarge(1/1.5);else if(t==="0")this.fit();else if(oe[t]&&e)this.
pan(...oe[t].map(s=>-s*X));else if(oe[t])this.walk(t);else if((t==="Enter"||t===" ")&&this.cursor)this.heard.onPick(this.cursor);else if(t==="Escape"&&(this.chosen||this.meant))this.mean(null),this.heard.
onPick(null);else return!1;return!0}walk(t){let{ranks:e}=this.scene,s=this.cursor??e[0]?.[0];if(!s)return;let i=e[s.level],o=i.indexOf(s),n=l=>l.reduce((c,u)=>c===null||Math.abs(u.goal-s.goal)<Math.abs(
c.goal-s.goal)?u:c,null),h=t==="ArrowLeft"?i[o-1]:t==="ArrowRight"?i[o+1]:n(t==="ArrowUp"?s.in.filter(l=>!l.repeats).map(l=>l.from):s.out.filter(l=>!l.repeats).map(l=>l.to));this.cursor=h??s,this.reveal(
this.cursor),this.mean(this.cursor),this.spoken.textContent=this.heard.spoken(this.cursor)}mean(t){if(this.meant!==t){if(this.meant=t,this.alike=t?this.heard.alike?.(t)??[]:[],this.canvas.style.cursor=
t?"pointer":"",this.tip.hidden=!t,t){p(this.tip,this.heard.told(t));let[e,s]=this.at(t),[i,o]=this.size;this.tip.style.left=`${Math.max(4,Math.min(e+14,i-this.tip.offsetWidth-4))}px`,this.tip.style.top=
s+14+this.tip.offsetHeight<o?`${s+14}px`:`${Math.max(4,s-14-this.tip.offsetHeight)}px`}this.heard.onHover?.(t),this.request()}}};var Qs=[["stripped","without step counters","Positions that differ in step counters only are one"],["state","exact","Positions are one if all their facts are the same"],["tree","tree","Each way from t\
he start is apart"]],ne={open:"it goes on",fresh:"nothing behind it was looked at",solved:"solved",end:"an end that is no solution",lost:"dead: no way from it leads to a solution"},es=2e4,ae=6,ti={nodes:new Set,
arcs:new Set},bt=class{constructor(t,{here:e,onGo:s}){Object.assign(this,{game:t,here:e,onGo:s}),this.merge=a("select",{"aria-label":"What counts as the same position"},Qs.map(([o,n,h])=>a("option",{value:o,
title:h},n))),this.depth=a("input",{type:"number",min:"1",max:"10000",placeholder:"any","aria-label":"Most moves from here"}),this.most=a("input",{type:"number",min:"1",max:String(es),value:"2000","ar\
ia-label":"Most positions"});let i=t.roles.map(({name:o,random:n},h)=>({name:o,random:n,value:h})).filter(({random:o})=>!o);this.role=a("select",{"aria-label":"Whose score counts"},i.map(({name:o,value:n})=>a(
"option",{value:n},o))),this.control=m("Explore",()=>this.stop?this.stop.abort():this.start(),{class:"strong"}),this.repeats=this.check("Repeated positions",!0),this.fades=this.check("Fade dead ends",
!0),this.trouble=b(),this.state=a("p",{class:"quiet","aria-live":"polite"}),this.sheet=new D("Graph of positions and moves",{onPick:o=>this.pick(o),told:o=>this.told(o),spoken:o=>this.spoken(o),alike:o=>this.
merge.value==="state"?this.found.alike.get(o.same).filter(n=>n!==o):[]}),this.glance=new gt(t,{onGo:o=>this.go(o),onClose:()=>{this.pick(null),this.sheet.canvas.focus()}}),this.counts=a("tbody"),this.
numbers=a("details",{class:"unfold",hidden:!0},a("summary",{},"Positions by level"),a("table",{class:"counts"},a("thead",{},a("tr",{},["Level","Positions","Solved","Ends","Moves on"].map(o=>a("th",{scope:"\
col"},o)))),this.counts)),this.legend=a("p",{class:"legend",hidden:!0},[["open","position"],["fresh","not looked behind"],["solved","solved"],["end","other end"],["lost","dead"]].map(([o,n])=>a("span",
{},j(o),n)),a("span",{},a("span",{class:"stroke lit"}),"shortest plans, or ways to the chosen one"),a("span",{},a("span",{class:"stroke again"}),"to a position met before")),this.element=a("div",{class:"\
graph"},a("p",{class:"quiet"},"The positions and moves from the position that is shown, as a search finds them."),a("div",{class:"line-of"},this.control,a("label",{},"Same: ",this.merge),a("label",{class:"\
seconds"},"Depth ",this.depth),a("label",{class:"seconds"},"At most ",this.most),i.length>1&&a("label",{},"For ",this.role),this.large),this.trouble,this.state,a("div",{class:"graph-body"},this.sheet.
element,this.glance.element),a("div",{class:"line-of"},this.repeats.label,this.fades.label),this.legend,this.numbers),this.numbers.addEventListener("toggle",()=>this.tell()),this.sheet.spreads(this.element),
this.clear()}check(t,e){let s=a("input",{type:"checkbox",checked:e});return s.addEventListener("change",()=>this.show()),{field:s,label:a("label",{class:"check"},s,t)}}clear(){this.found=new ft,this.layers=
new yt,this.waiting=[],this.best=ti,this.pick(null)}async start(){this.clear(),this.from=this.here();let t=new AbortController;this.stop=t,this.control.textContent="Stop",this.trouble.say(""),this.numbers.
hidden=this.legend.hidden=!1;let e=Math.min(Math.max(Math.round(Number(this.most.value))||2e3,1),es),s={moves:this.from.moves(),merge:this.merge.value,most:e,role:Number(this.role.value)||0};Number(this.
depth.value)>=1&&(s.depth=Math.round(Number(this.depth.value)));try{for await(let[i,o]of this.game.events("graph",s,t.signal)){if(i==="failed")throw new Error(o.message);i==="grown"&&this.grown(o),i===
"graph"&&this.ended(o)}}catch(i){i.name==="AbortError"?this.state.textContent=`${this.summary()}; stopped.`:this.trouble.say(i.message)}finally{this.stop===t&&(this.stop=null),this.control.textContent=
"Explore",this.element.dataset.nodes=this.found.nodes.length,this.place()}}grown(t){this.waiting.push(...this.found.grow(t)),this.state.textContent=`${this.summary()} \u2026`,this.soon??=requestAnimationFrame(
()=>this.place())}ended(t){this.found.end(t),this.state.textContent=`${this.summary()}, ${t.seconds.toFixed(1)} s${t.said?`: ${t.said}`:""}.`}summary(){let{nodes:t,arcs:e,levels:s}=this.found;return`${this.
from.ply>0?`After ${y(this.from.ply,"move")}: `:""}${y(t.length,"position")}, ${y(e.length,"move")}, ${y(s.length,"level")}`}place(){cancelAnimationFrame(this.soon),this.soon=null,this.layers.add(this.
waiting),this.waiting=[],this.best=this.found.waysTo(this.found.nearest()),(this.numbers.open||!this.stop)&&this.tell(),this.show()}show(){let{found:t,layers:e,chosen:s}=this,i=this.fades.field.checked;
this.sheet.chosen=s,this.sheet.show({ranks:e.ranks,arcs:t.arcs,repeats:this.repeats.field.checked,lit:s?t.waysTo([s]):this.best,kind:o=>t.kind(o),look:(o,n)=>n,isFaint:o=>i&&o.lost,radius:(o,n)=>Math.
min(Math.max(.36*n,.8),7.5),words:o=>o.id>0?o.in[0]?.move??"":""})}tell(){let t=this.found.levels.map((e,s)=>({level:s,count:e,solved:0,ends:0,moves:0}));for(let{level:e,status:s,out:i}of this.found.nodes){
let o=t[e];s==="solved"&&(o.solved+=1),s==="dead"&&(o.ends+=1),o.moves+=i.length}p(this.counts,t.map(({level:e,count:s,solved:i,ends:o,moves:n})=>a("tr",{},a("th",{scope:"row"},String(e)),[s,i,o,n].map(
h=>a("td",{},h.toLocaleString("en"))))))}told(t){let{in:e,out:s}=t,i=e.slice(0,ae).map(({from:o,move:n})=>a("div",{},a("code",{},n),a("span",{class:"quiet"},` from ${o.id}`)));return[a("strong",{},`Po\
sition ${t.id}, level ${t.level}`),a("div",{},ne[this.found.kind(t)]),...i,e.length>ae&&a("div",{class:"quiet"},`${e.length-ae} more moves lead here`),a("div",{class:"quiet"},`${y(s.length,"move")} on`)]}spoken(t){
return`Position ${t.id}, level ${t.level}, ${ne[this.found.kind(t)]}, ${t.in[0]?`by ${t.in[0].move}, `:""}${y(t.out.length,"move")} on.`}pick(t){this.chosen=t,this.sheet.mean(null),this.glance&&(t?this.
glance.show(t,[...this.from.moves(),...this.found.way(t)],`Position ${t.id}`,this.lines(t)):this.glance.close()),this.show()}lines(t){let e=this.found.countWays(t),s=this.found.alike.get(t.same).length-
1;return[`Level ${t.level}: ${ne[this.found.kind(t)]}.`,t.id>0&&`${y(e,"way")} of ${y(t.level,"move")} to it; ${y(t.out.length,"move")} on.`,s>0&&`${y(s,"other position")} differ${s===1?"s":""} from i\
t in step counters only.`].filter(Boolean)}go(t){this.sheet.large(!1),this.onGo(this.from,this.found.way(t))}leave(){this.stop?.abort(),this.sheet.leave(),this.glance.leave()}};var R=class{constructor(t,e){this.parent=t,this.joint=e,this.ply=t?t.ply+1:0,this.children=[],this.next=null,this.position=null,this.values=new Map,this.time=Date.now()}path(){let t=[];for(let e=this;e;e=
e.parent)t.push(e);return t.reverse()}moves(){return this.path().slice(1).map(t=>t.joint)}},kt=class{constructor(){this.root=new R(null,null),this.here=this.root}child(t,e){let s=e.join(" "),i=t.children.
find(o=>o.joint.join(" ")===s);return i||(i=new R(t,e),t.children.push(i)),t.next=i,i}graft(t,e){return e.reduce((s,i)=>this.child(s,i),t)}goto(t){for(let e=t;e.parent;e=e.parent)e.parent.next=e;this.
here=t}line(){let t=this.here.path();for(let e=this.here.next;e;e=e.next)t.push(e);return t}ahead(){return this.line().slice(this.here.ply+1).map(t=>t.joint)}};function ei(r,{line:t,bytes:e}){if(!e)return[t,t];let s=new TextDecoder().decode(new TextEncoder().encode(r).subarray(e[0],e[1]));return[t,t+s.trimEnd().split(`
`).length-1]}var xt=class{constructor(t){this.files=t,this.at=0,this.tabs=a("div",{class:"files"}),this.text=a("div",{class:"source",tabindex:"0",role:"region","aria-label":"Rules"}),this.element=a("d\
iv",{class:"source-box"},this.tabs,this.text),this.open(0)}open(t){this.at=t,p(this.tabs,this.files.map(({name:e},s)=>{let i=a("button",{type:"button",class:"file","aria-pressed":String(s===t)},e);return i.
addEventListener("click",()=>this.open(s)),i})),this.lines=this.files[t].text.split(`
`).map(e=>a("div",{class:e.trimStart().startsWith(";")?"line comment":"line"},e||" ")),p(this.text,this.lines),this.lit=[]}unlit(){for(let t of this.lit)t.classList.remove("lit");this.lit=[]}show(t){let e=this.
files.findIndex(({name:d})=>d===t.file),s=e>=0?e:Math.max(0,this.files.findIndex(({name:d})=>t.file.endsWith(`/${d}`)||d.endsWith(`/${t.file}`)));s!==this.at&&this.open(s),this.unlit();let[i,o]=ei(this.
files[s].text,t);this.lit=this.lines.slice(i-1,o);for(let d of this.lit)d.classList.add("lit");let n=this.lit[0];if(!n)return;let h=n.offsetTop,l=this.lit[this.lit.length-1].offsetTop+n.offsetHeight,{
scrollTop:c,clientHeight:u}=this.text;(h<c||l>c+u)&&(this.text.scrollTop=Math.max(0,h-u/3))}};var Z={holds:["\u2713","holds"],fails:["\u2717","does not hold"],open:["\u25E6","depends on what does not hold"],group:["",""]},si=3,$t=class{constructor(t,e,s){this.game=t,this.position=e,this.onOpen=
s,this.question=a("input",{type:"text",class:"question",spellcheck:"false",autocapitalize:"off",autocomplete:"off",placeholder:"(legal ROLE MOVE), (goal ROLE ?value), terminal \u2026","aria-label":"A \
fact or relation to ask about"}),this.trouble=b(),this.answer=a("div",{class:"answer","aria-live":"polite"}),this.source=new xt(t.files);let i=a("form",{class:"ask",on:{submit:o=>{o.preventDefault(),this.
ask(this.question.value)}}},a("label",{},"Why ",this.question),a("button",{type:"submit"},"Ask"));this.element=a("section",{class:"why-drawer","aria-label":"Why",hidden:!0},a("div",{class:"why-head"},
i,m(T("close"),()=>this.close(),{class:"plain","aria-label":"Close"})),this.trouble,a("div",{class:"why-body"},this.answer,this.source.element)),this.element.addEventListener("keydown",o=>{o.key==="Es\
cape"&&this.close()}),this.answer.addEventListener("click",o=>this.point(o)),this.answer.addEventListener("pointerover",o=>this.point(o)),this.answer.addEventListener("focusin",o=>this.point(o))}open(){
this.element.hidden&&(this.element.hidden=!1,document.body.classList.add("asking"),this.onOpen()),this.answer.hasChildNodes()||p(this.answer,a("p",{class:"quiet"},"Ask why anything holds in this posit\
ion, or why not: a fact, a legal move, a goal, or any relation of the rules. Variables such as ?x are allowed.")),this.question.focus({preventScroll:!0})}close(){this.element.hidden=!0,document.body.classList.
remove("asking"),this.back?.focus?.({preventScroll:!0})}async ask(t,e=!1){if(this.element.hidden&&(this.back=document.activeElement),this.open(),this.question.value=t,this.trouble.say(""),!!t.trim()){
this.stop?.abort(),this.stop=new AbortController;try{let s={moves:this.position(),question:t.trim(),history:e},{holds:i,has_history:o,trees:n,text:h}=await this.game.ask("why",s,this.stop.signal);this.
places=[],p(this.answer,n.length>0?n.map(c=>this.branch(c,0)):a("pre",{},h||(i?"It holds.":"It does not hold."))),o&&this.answer.prepend(a("p",{},m(e?"Only in this position":"Over the moves",()=>this.
ask(t,!e),{class:"small"})));let l=this.places[0];l&&this.source.show(l)}catch(s){if(s.name==="AbortError")return;this.places=[],p(this.answer),this.source.unlit(),this.trouble.say(s.message)}}}branch(t,e){
let s=this.line(t);return t.because.length===0&&!t.omitted?a("div",{class:"leaf"},s):a("details",{open:e<si},a("summary",{},s),t.because.map(i=>this.branch(i,e+1)),t.omitted>0&&a("p",{class:"quiet lea\
f"},`${t.omitted} more`))}line({mark:t,text:e,note:s,place:i,bindings:o,always:n}){let[h,l]=Z[t]??Z.group,c=i?this.places.push(i)-1:null,u=o.map(([d,f])=>`${d} = ${f}`).join(", ");return a("span",{class:`\
why-line ${t}`,"data-place":c},h&&a("span",{class:"sign","aria-label":l},`${h} `),e&&a("code",{},e)," ",a("span",{class:"quiet"},s,i&&" ",i&&a("a",{href:"#",class:"place"},`${i.file.split("/").pop()}:${i.
line}`),u&&` with ${u}`,n&&t==="holds"&&!i&&" always"))}point(t){let e=t.target.closest("[data-place]");t.type==="click"&&t.target.closest(".place")&&t.preventDefault(),e&&this.source.show(this.places[Number(
e.dataset.place)])}};var ii=300,re=2,he=7,oi=3,ni=200,St=class{constructor(t,e){this.game=t,this.here=e,this.element=a("div",{class:"why-tip",role:"tooltip",id:"why-tip",hidden:!0}),this.answers=new Map,this.place=[-re,-re],
this.stop=new AbortController}listen(t){let e=s=>{if(s.pointerType==="touch")return;if(s.type==="pointerover"){let[o,n]=this.place;if(Math.hypot(s.clientX-o,s.clientY-n)<re)return;this.place=[s.clientX,
s.clientY]}let i=s.target.closest?.("[data-why]")??null;i!==this.about&&this.mean(i,s.target)};t.addEventListener("pointerover",e),t.addEventListener("focusin",s=>s.target.matches(":focus-visible")&&e(
s)),t.addEventListener("pointerleave",()=>this.hide()),t.addEventListener("focusout",()=>this.hide()),t.addEventListener("click",s=>{this.place=[s.clientX,s.clientY],this.hide()}),t.addEventListener("\
scroll",()=>this.element.hidden||this.hide(),!0),t.addEventListener("keydown",s=>{s.key==="Escape"&&this.hide()})}mean(t,e){this.hide(),t&&(this.about=t,this.described=e,this.timer=setTimeout(()=>this.
ask(),ii))}hide(){clearTimeout(this.timer),this.element.hidden=!0,this.described?.removeAttribute("aria-describedby"),this.about=this.described=null}async ask(){if(!this.asks){this.asks=!0;try{for(;this.
about;){let t=this.here();(this.node!==t||this.answers.size>ni)&&this.answers.clear(),this.node=t;let{about:e}=this,s=e.dataset.why;if(this.answers.has(s)||this.answers.set(s,await this.game.ask("why",
{moves:t.moves(),question:s},this.stop.signal).catch(i=>{if(i.name==="AbortError")throw i;return{trees:[],text:i.message}})),this.about===e&&this.here()===t){this.show(e,this.answers.get(s));return}}}catch(t){
if(t.name!=="AbortError")throw t}finally{this.asks=!1}}}show(t,{holds:e,trees:s,text:i}){let o=[];for(let f of s)this.lines(f,0,o);p(this.element,o.slice(0,he),o.length>he&&a("div",{class:"quiet"},"\u2026 \
(why? shows all)"),o.length===0&&a("div",{},i?.split(`
`)[0]||(e?"It holds.":"It does not hold."))),this.element.hidden=!1,this.described.setAttribute("aria-describedby","why-tip");let n=t.getBoundingClientRect(),{offsetWidth:h,offsetHeight:l}=this.element,
c=document.documentElement.clientWidth,u=n.right+8+h<c,d=u?Math.min(n.top,innerHeight-l-6):n.bottom+6+l<innerHeight?n.bottom+6:n.top-6-l;this.element.style.left=`${Math.max(6,u?n.right+8:Math.min(n.left,
c-h-6))}px`,this.element.style.top=`${Math.max(6,d)}px`}lines({mark:t,text:e,note:s,place:i,because:o},n,h){if(h.length>he)return;let[l,c]=Z[t]??Z.group;if(h.push(a("div",{class:`why-line ${t} in-${n}`},
l&&a("span",{class:"sign","aria-label":c},`${l} `),e&&a("code",{},e),s&&a("span",{class:"quiet"},` ${s}${i?` ${i.file.split("/").pop()}:${i.line}`:""}`))),n<oi)for(let u of o)this.lines(u,n+1,h)}leave(){
this.stop.abort(),this.hide()}};var ss=r=>r.replaceAll("(","( ").replaceAll(")"," )"),le=r=>r.map(({text:t})=>t).join(`
`);function is(r,t,e){let[s]=e,{over:i,goals:o}=e[e.length-1].position;return`${JSON.stringify({matchId:`ggp.${r.name.replaceAll(/[^a-z0-9]/gi,"_")}.${s.time}`,randomToken:[...crypto.getRandomValues(new Uint8Array(
16))].map(n=>n.toString(16).padStart(2,"0")).join(""),startTime:s.time,isCompleted:i,isAborted:!1,states:e.map(({position:n})=>`( ${n.facts.map(ss).sort().join(" ")} )`),moves:e.slice(1).map(({joint:n})=>n.
map(ss)),stateTimes:e.map(({time:n})=>n),errors:e.map(()=>r.roles.map(()=>"")),...i&&!o.includes(null)&&{goalValues:o},previewClock:-1,startClock:0,playClock:0,playerNamesFromHost:t.map(n=>n===w?"huma\
n":n),isPlayerHuman:t.map(n=>n===w),tournamentNameFromHost:"",scrambled:!1,rulesheet:le(r.rules.files),game:r.bundled?r.id:r.name,...!r.bundled&&r.rules.picture&&{picture:r.rules.picture}})}
`}function ce({game:r,rules:t},e){return t?le(t.files)===le(e.rules.files):r===null||r===e.id||r===e.name}async function Et(r){let t=(await ot()).find(({id:s,name:i})=>s===r.game||i===r.game),e=t&&await L.
named(t.id);return e&&ce(r,e)?e:r.rules&&L.loaded(r.rules)}function Mt(r){let t;try{t=JSON.parse(r)}catch{throw new Error("This is no match record: it is not JSON.")}if(!Array.isArray(t?.moves))throw new Error(
"This is no match record: it has no list \u201Cmoves\u201D.");let e=t.moves.map((h,l)=>{if(!Array.isArray(h))throw new Error(`Move ${l+1} of the record is no list.`);return h.map(Ce)}),s=typeof t.matchId==
"string"?t.matchId.split(".").slice(1,-1).join("."):null,i=typeof t.game=="string"?t.game:s||null,o=typeof t.picture=="string"?t.picture:null,n=Array.isArray(t.rules?.files)?t.rules:typeof t.rulesheet==
"string"?{files:[{name:`${i??"match"}.kif`,text:t.rulesheet}],picture:o}:null;return{game:i,moves:e,rules:n}}var ai=1500;async function os(r,t,e){let{table:s,keys:i}=await S("/api/tables",{game:r.id,moves:t,seats:e}),o=r.bundled||!r.path.startsWith("rules=")?"":`&${r.path}`;return i.map((n,h)=>n===null?null:
`${location.origin}${location.pathname}#/table/${encodeURIComponent(s)}?key=${encodeURIComponent(n)}&seat=${h}${o}`)}async function ue(r,t){try{await S(`/api/tables/${encodeURIComponent(r)}/moves`,{key:t,
ply:2**32,move:""})}catch(e){if(e.status===403)return!1;if(e.status!==409)throw e}return!0}function ns({table:r,words:t,refused:e}){let s=a("input",{type:"text","aria-label":"Invitation: its link, or \
the key in it",placeholder:"link or key",spellcheck:"false",autocomplete:"off"}),i=b();e&&i.say("The key in this address is that of no seat at this table.");let o=async n=>{n.preventDefault();let h=s.
value.trim(),l=h.includes("#")?at(h.slice(h.indexOf("#"))):{table:r,key:h,seat:null};i.say("");try{if(!l.key||!l.table)throw new Error("That is neither the link of an invitation nor its key.");if(!await ue(
l.table,l.key))throw new Error("That is the key of no seat at this table.");let c=[l.seat===null?"":`&seat=${l.seat}`,t.rules?`&rules=${t.rules}`:""].join("");location.hash=`#/table/${encodeURIComponent(
l.table)}?key=${encodeURIComponent(l.key)}${c}`}catch(c){i.say(c.message)}};return a("section",{class:"panel joining","aria-label":"Sit down"},a("p",{class:"quiet"},"You look on. If you have an invita\
tion to a seat, enter it here."),a("form",{class:"invited",on:{submit:o}},s,a("button",{type:"submit"},"Sit down")),i)}async function as(r){let t=new AbortController;try{for await(let[,e]of z(`/api/ta\
bles/${encodeURIComponent(r)}`,void 0,t.signal))return e;throw new Error("The table says nothing.")}finally{t.abort()}}async function*rs(r,t,e){for(;!t.aborted;){try{for await(let[s,i]of z(`/api/table\
s/${encodeURIComponent(r)}`,void 0,t))if(e(""),s==="table"&&(yield i),i.over)return}catch(s){if(s.name==="AbortError")return;if(s.status>=400&&s.status<500&&s.status!==429)throw s;e(s.message)}await new Promise(
s=>{setTimeout(s,ai)})}}var Tt=class{constructor(t,e,{table:s,key:i,seat:o},n){Object.assign(this,{game:t,history:e,table:s,key:i,seat:o,heard:n}),this.branches=!1,this.paused=!1,this.waits=!1,this.secret=
!1,this.thinking=new Map,this.seats=t.roles.map(()=>w),this.end=e.root,this.chosen=t.roles.map(()=>!1),this.mine=null}changed({seats:t,moves:e,chosen:s,failed:i}){this.seats=t,this.chosen=s,this.failed=
i??null;let o=this.history.graft(this.history.root,e);return o!==this.end&&(this.mine=null),this.end=o,o}depart(){this.node=null}arrive(t){this.node=t;let e=t.position.legal[this.seat??-1]??[];e.length===
1&&this.stateOf(this.seat)==="single"&&t===this.end&&!this.chosen[this.seat]&&this.send(e[0].move).catch(()=>{}),this.heard.onChange()}stateOf(t){let{turn:e,over:s}=this.node?.position??{over:!0};return s||
this.node!==this.end?"others":e.includes(t)?this.chosen[t]?"chosen":this.key&&(this.seat===null?this.seats[t]===w:t===this.seat)?this.mine?"chosen":"open":"others":"single"}async choose(t,e){this.mine=
e,this.heard.onChange();try{await this.send(e),this.seat??=t}catch(s){this.mine=null,this.heard.onTrouble(s.message),this.heard.onChange()}}send(t){return S(`/api/tables/${encodeURIComponent(this.table)}\
/moves`,{key:this.key,ply:this.end.ply,move:t})}back(){}pause(){}stop(){}};var At=class{constructor(t){this.view=t;let e=m("Copy link",()=>{t.atTable||t.address();let{origin:i,pathname:o}=location;!t.game.bundled&&!t.game.path.startsWith("rules=")?t.trouble.say("These rules \
are too long for a link: save the match, which has them in it."):Ht(`${i}${o}${A(t.game.path,{moves:t.history.here.moves()})}`,e)},{title:"A link that shows this position"}),s=a("input",{type:"file",accept:"\
.json",hidden:!0});s.addEventListener("change",async()=>{s.files[0]&&await this.load(s.files[0]),s.value=""}),this.invite=m("Invite",()=>this.lay(),{title:"Play with others, each on a page of their ow\
n"}),this.element=a("div",{class:"sharing"},e,m("Save",()=>this.save(),{title:"Save the match as a file"}),!t.atTable&&m("Load",()=>s.click(),{title:"Load a match record"}),s,!t.atTable&&this.invite,m(
"Rules and why",()=>t.why.open(),{title:"Read the rules, and ask why or why not"}),m("Change rules",()=>t.onEdit?.(structuredClone({files:t.game.files,picture:t.game.picture??null})),{title:"Edit thes\
e rules as your own"})),this.invitation=a("section",{class:"panel invitation",hidden:!0,"aria-label":"Invitation"})}async save(){let{game:t,history:e,match:s}=this.view,i=e.line();try{for(let o of i)await this.
view.load(o);Le(`${t.name}.json`,is(t,s.seats,i),"application/json")}catch(o){this.view.trouble.say(o.message)}}async load(t){let{view:e}=this;try{let s=Mt(await N(t)),{moves:i}=s,o=ce(s,e.game)?null:
await Et(s);if(o){location.hash=A(o.path,{moves:i});return}let n=e.history.graft(e.history.root,i);await e.go(n)}catch(s){e.trouble.say(s.message)}}async lay(){let{view:t}=this;try{await t.load(t.history.
here);let e=await os(t.game,t.history.here.moves(),t.match.seats),s=e.filter(Boolean);p(this.invitation,a("h2",{},"A table is laid"),a("p",{class:"quiet"},s.length>0?"Whoever opens a link sits down in\
 that seat. Choices stay hidden until all have chosen.":"No seat is a person\u2019s: choose \u201Ca person\u201D for a role first."),e.map((i,o)=>i===null?a("p",{class:"quiet"},a("strong",{},t.game.roles[o].
name),` is played by ${t.match.seats[o]}: no seat for a person.`):this.seat(t.game.roles[o].name,i)),m("Close",()=>{this.invitation.hidden=!0},{class:"small"})),this.invitation.hidden=!1}catch(e){t.trouble.
say(e.message)}}seat(t,e){let s=m("Copy",()=>Ht(e,s),{class:"small","aria-label":`Copy the link for ${t}`});return a("div",{class:"invited"},a("strong",{},t),a("input",{type:"text",readonly:!0,value:e,
"aria-label":`Link for ${t}`,on:{focus:i=>i.target.select()}}),s,a("a",{href:e},"Sit down"))}};function hs(r,{boards:t}){return r.map(({name:e})=>t.find(s=>s.colours?.[e])?.colours[e]??"")}var Lt=class{constructor(t,e){this.roles=t,this.heard=e,this.kinds=[],this.rows=t.map((s,i)=>this.row(s,i)),
this.element=a("section",{class:"panel seats","aria-label":"Players"},a("h2",{},"Players"),...this.rows.map(s=>s.element))}row(t,e){let s=a("span",{class:`dot r${e%8}`,"aria-hidden":"true"}),i=m("",()=>this.
heard.onWhy(i.dataset.why),{class:"goal"}),o=a("span",{class:"quiet state"}),n=a("select",{"aria-label":`Who plays ${t.name}`}),h=a("input",{type:"number",min:"0.1",max:"600",step:"any",value:"1","ari\
a-label":`Seconds a move for ${t.name}`}),l=a("label",{class:"seconds"},h," s"),c=a("input",{type:"text",placeholder:"options","aria-label":`Options of ${t.name}`,class:"options",spellcheck:"false"}),
u=a("span",{class:"fixed",hidden:!0}),d=()=>this.heard.onSit(e,this.player(e));for(let g of[n,h,c])g.addEventListener("change",d);return{element:a("div",{class:"seat"},a("div",{class:"seat-head"},s,a(
"strong",{},t.name),o,i),a("div",{class:"seat-player"},n,l,c,u)),dot:s,goal:i,state:o,kind:n,time:h,seconds:l,options:c,fixed:u}}async load(){this.kinds=await nt();for(let{kind:t}of this.rows)p(t,a("o\
ption",{value:w},"a person"),this.kinds.map(({name:e,what:s})=>a("option",{value:e,title:s},e)));return this.kinds}player(t){let{kind:e,time:s,options:i}=this.rows[t];if(e.value===w)return w;let o=this.
kinds.find(h=>h.name===e.value)?.thinks,n=Math.min(Math.max(Number(s.value)||1,.1),600);return He({kind:e.value,time:o?`${n}s`:"",options:i.value.replaceAll(/\s/g,"")})}colour(t){t.forEach((e,s)=>{this.
rows[s].dot.style.background=e})}sit(t){t.forEach((e,s)=>{let{kind:i,time:o,options:n}=this.rows[s],h=dt(e);i.value=h.kind,h.time.endsWith("s")&&(o.value=h.time.slice(0,-1)),n.value=h.options,this.shape(
s)})}fix(t){t.forEach((e,s)=>{let{kind:i,seconds:o,options:n,fixed:h}=this.rows[s];for(let l of[i,o,n])l.hidden=!0;h.hidden=!1,h.textContent=e})}shape(t){let{kind:e,seconds:s,options:i}=this.rows[t],o=this.
kinds.find(n=>n.name===e.value);s.hidden=!o?.thinks,i.hidden=!o||o.options.length===0,i.title=(o?.options??[]).map(([n,h])=>`${n}: ${h}`).join(`
`),e.title=o?.what??"Somebody at this page"}show(t,e,s){this.rows.forEach(({element:i,goal:o,state:n},h)=>{n.textContent=t[h],i.classList.toggle("turn",t[h]!=="");let l=e[h];o.hidden=l===null,o.dataset.
why=`(goal ${this.roles[h].name} ${l})`,o.textContent=l??"",o.classList.toggle("final",s),o.setAttribute("aria-label",`${this.roles[h].name} ${s?"scores":"would score"} ${l}. Why?`)})}};var Q=340,q=130,B=36,Ot=10,ri=8,ls=24;function cs(r){return v("svg",{viewBox:`0 0 ${Q} ${q}`,class:"chart",role:"img","aria-label":r})}function us(r,t,e){return B+(e>t?(r-t)/(e-t):0)*(Q-B-Ot)}function Ct(r){
return q-ls-r*(q-ri-ls)}function ds(r,t){return[v("line",{x1:B,x2:Q-Ot,y1:r,y2:r,class:"rung"}),v("text",{x:B-5,y:r+4,"text-anchor":"end"},t)]}function de(r,t,e){let s=cs(e),i=r.flatMap(({points:l})=>l.
map(([c])=>c)),o=Math.min(...i,0),n=Math.max(...i,t==="s"?.1:1);for(let l of[0,50,100])s.append(...ds(Ct(l/100),String(l)));for(let{index:l,name:c,points:u}of r){if(u.length===0)continue;let d=u.map(([
k,M])=>[us(k,o,n),Ct(Math.min(Math.max(M,0),100)/100)]),f=d.map(([k,M])=>`${k.toFixed(1)},${M.toFixed(1)}`).join(" ");s.append(v("polyline",{points:f,class:"edge"}),v("polyline",{points:f,class:`line \
r${l%8}`},v("title",{},c)));let[g,E]=d[d.length-1];s.append(v("circle",{cx:g.toFixed(1),cy:E.toFixed(1),r:3,class:`end r${l%8}`}))}let h=l=>t==="s"?`${l.toFixed(1)} s`:`${t} ${l}`;return s.append(v("t\
ext",{x:B,y:q-6},h(o)),v("text",{x:Q-Ot,y:q-6,"text-anchor":"end"},h(n))),s}function pe(r){let t=Math.max(...r,1),e=cs(`New positions by depth, from 0 to ${r.length-1}; at most ${t.toLocaleString("en")}`),
s=Math.max(Math.ceil(Math.log10(t)),1),i=Math.ceil(s/4);for(let n=0;n<=s;n+=i)e.append(...ds(Ct(n/s),me(10**n)));let o=r.map((n,h)=>[us(h,0,Math.max(r.length-1,1)),Ct(Math.log10(Math.max(n,1))/s),n,h]);
e.append(v("polyline",{points:o.map(([n,h])=>`${n.toFixed(1)},${h.toFixed(1)}`).join(" "),class:"line r0"}));for(let[n,h,l,c]of o)e.append(v("circle",{cx:n.toFixed(1),cy:h.toFixed(1),r:r.length>60?1.5:
3,class:"end r0"},v("title",{},`depth ${c}: ${l.toLocaleString("en")}`)));return e.append(v("text",{x:B,y:q-6},"depth 0"),v("text",{x:Q-Ot,y:q-6,"text-anchor":"end"},`depth ${r.length-1}`)),e}function me(r){
for(let[t,e]of[[1e9,"G"],[1e6,"M"],[1e3,"k"]])if(r>=t)return`${Number((r/t).toPrecision(3))} ${e}`;return String(Number(r.toPrecision(3)))}var jt=class{constructor(t,{here:e,onPlan:s}){this.game=t,this.here=e,this.onPlan=s,this.seconds=a("input",{type:"number",min:"1",max:"600",value:"30","aria-label":"Seconds for the search"}),this.method=
a("select",{"aria-label":"Method"},a("option",{value:""},"auto")),this.about=a("p",{class:"quiet"}),this.method.addEventListener("change",()=>{this.about.textContent=this.method.selectedOptions[0].title}),
this.control=m("Solve",()=>this.stop?this.stop.abort():this.start(),{class:"strong"}),this.trouble=b(),this.said=a("div",{"aria-live":"polite"}),this.element=a("div",{class:"solve"},a("p",{class:"quie\
t"},"Looks for a plan from the position that is shown."),a("div",{class:"line-of"},this.control,a("label",{class:"seconds"},this.seconds," s"),a("label",{},"by ",this.method)),this.about,this.trouble,
this.said)}async shown(){try{let t=await Ee();p(this.method,t.map(({name:e,title:s})=>a("option",{value:e,title:s},e))),this.about.textContent=this.method.selectedOptions[0]?.title??""}catch(t){this.trouble.
say(t.message)}}async start(){let t=this.here();this.stop=new AbortController,this.control.textContent="Stop",this.trouble.say(""),p(this.said,a("p",{class:"quiet"},"Searching \u2026"));let e=null,s={
moves:t.moves(),seconds:Number(this.seconds.value)||30};this.method.value&&(s.method=this.method.value);try{for await(let[i,o]of this.game.events("solve",s,this.stop.signal)){if(i==="failed")throw new Error(
o.message);i==="progress"&&this.progress(e=o),i==="answer"&&this.answer(t,o)}}catch(i){e?this.progress(e,!1):p(this.said,a("p",{class:"quiet"},"Stopped.")),i.name!=="AbortError"&&this.trouble.say(i.message)}finally{
this.stop=null,this.control.textContent="Solve"}}progress({seconds:t,method:e,nodes:s,depth:i,said:o,levels:n},h=!0){p(this.said,a("p",{},h?a("span",{class:"spinner","aria-hidden":"true"}):"Stopped.",
" ",[e,i!=null&&`depth ${i}`,s>0&&y(s,"position"),`${t.toFixed(1)} s`].filter(Boolean).join(" \xB7 ")),o&&a("p",{class:"quiet"},o),n?.length>1&&a("div",{"aria-hidden":"true"},a("h3",{},"New positions \
by depth"),pe(n)))}answer(t,{solved:e,proved:s,plan:i,said:o,seconds:n,nodes:h,levels:l}){let c=e?`Solved in ${y(i?.length??0,"move")}${s?", and there is no shorter plan":""}.`:s?"There is no plan: th\
is is proved.":"No plan was found.",u=e&&!s?"A shorter one may exist.":!e&&o;p(this.said,a("p",{class:"verdict"},c),u&&a("p",{},u),a("p",{class:"quiet"},`${h>0?`${y(h,"position")} in `:""}${n.toFixed(
2)} s`),i&&i.length>0&&a("p",{class:"line-of"},m("Play the plan",()=>this.onPlan(t,i,!0),{class:"strong"}),m("Step by step",()=>this.onPlan(t,i,!1))),i&&i.length>0&&hi(i),l.length>1&&a("div",{},a("h3",
{},"New positions by depth"),pe(l),a("details",{class:"unfold"},a("summary",{},"As numbers"),a("p",{class:"numbers"},l.map(d=>d.toLocaleString("en")).join(" \xB7 ")))))}leave(){this.stop?.abort()}};function hi(r){
let t=a("ol",{class:"plan"},r.map(e=>a("li",{},a("code",{},e))));return t.style.columnWidth=`${Math.max(...r.map(e=>e.length))+5}ch`,a("div",{class:"plan-frame"},t)}var Rt=class{constructor(t){this.panels=t.map(([s,i])=>{let o=`tab-${s.toLowerCase()}`,n=a("button",{type:"button",role:"tab",id:o,"aria-controls":`${o}-panel`,on:{click:()=>{this.own=!0,this.choose(s)}}},
s),h=a("div",{role:"tabpanel",id:`${o}-panel`,"aria-labelledby":o,class:"tab-panel"},i);return{name:s,tab:n,panel:h}});let e=a("div",{role:"tablist",class:"tabs"},this.panels.map(({tab:s})=>s));e.addEventListener(
"keydown",s=>this.key(s)),this.element=a("section",{class:"panel tabbed"},e,this.panels.map(({panel:s})=>s)),this.choose(t[0][0])}choose(t){this.chosen=t;for(let{name:e,tab:s,panel:i}of this.panels)s.
setAttribute("aria-selected",String(e===t)),s.tabIndex=e===t?0:-1,i.hidden=e!==t}suggest(t){!this.own&&this.chosen!==t&&this.choose(t)}key(t){let e={ArrowLeft:-1,ArrowRight:1}[t.key];if(!e)return;let s=this.
panels.findIndex(({name:o})=>o===this.chosen),i=this.panels[(s+e+this.panels.length)%this.panels.length];this.own=!0,this.choose(i.name),i.tab.focus(),t.preventDefault()}};var li=15,ci={nodes:new Set,arcs:new Set},qt=class{constructor({onGo:t,onOpen:e}){this.onGo=t,this.onOpen=e,this.sheet=new D("Tree of what a player looked at",{onPick:s=>s&&this.go(s),told:s=>this.told(
s),spoken:s=>this.spoken(s)}),this.control=m("Show the tree",()=>this.open(!this.shown),{"aria-expanded":"false",class:"small"}),this.state=a("p",{class:"quiet","aria-live":"polite"}),this.line=a("p",
{class:"variation",hidden:!0}),this.legend=a("p",{class:"legend"},a("span",{},j("open","value-0"),"expects 0"),a("span",{},j("open","value-5"),"50"),a("span",{},j("open","value-10"),"100"),a("span",{},
j("ended","value-5"),"the game is over"),a("span",{},a("span",{class:"stroke lit"}),"the line that it expects"),a("span",{},"Larger: visited more")),this.body=a("div",{class:"tree",hidden:!0},this.state,
this.line,this.sheet.element,this.legend),this.sheet.spreads(this.body),this.element=a("div",{class:"tree-box"},this.control,this.body),this.clear()}open(t){this.shown=t,this.body.hidden=!t,this.control.
textContent=t?"Hide the tree":"Show the tree",this.control.setAttribute("aria-expanded",String(t)),t&&(this.last?this.grown(...this.last):(this.show(),this.onOpen()))}clear(t="Grows when a player that\
 searches a tree thinks: ask for a hint, or let one move."){this.from=null,this.last=null,this.known=new Map,this.root=null,this.ranks=[],this.arcs=[],this.words=[],this.state.textContent=t,this.show()}grown(t,e,s,{
nodes:i,all:o}){if((this.from!==t||this.player!==e)&&this.clear(),Object.assign(this,{from:t,player:e,name:s,last:[t,e,s,{nodes:i,all:o}]}),!this.shown)return;let n=new Map,h=[];this.arcs=[];for(let[l,
c]of i.entries()){let u=c.from===null?null:h[c.from],d=u?`${u.path};${c.way.join(" ")}`:"";for(;n.has(d);)d+=";";let f=Object.assign(this.known.get(d)??{path:d,x:u?.x??.5},c,{in:[],out:[],parent:u,id:l});
if(n.set(d,f),h.push(f),!u)continue;let g={from:u,to:f,move:c.move,repeats:!1,chance:0};u.out.push(g),f.in.push(g),this.arcs.push(g)}this.known=n,this.root=h[0],this.ranks=this.root?Ye(this.root):[],this.
state.textContent=`${e} as ${s}: ${i.length} of ${y(o,"node")} shown.`,this.show()}expects(t){this.words=t??[],this.show()}along(){if(!this.root||this.ranks.length===0)return ci;let t=new Set([this.root]),
e=new Set,s=this.root;for(let i of this.words){let o=s.out.find(n=>n.move===i);if(!o)break;e.add(o),t.add(o.to),s=o.to}return{nodes:t,arcs:e}}show(){if(this.line.hidden=this.words.length===0,p(this.line,
"Expects ",this.words.map(e=>a("code",{},e))),!this.shown)return;let t=Math.max(1,this.root?.visits??1);this.sheet.show({ranks:this.ranks,arcs:this.arcs,repeats:!1,lit:this.along(),isFaint:()=>!1,words:e=>e.
move??"",kind:e=>e.ended?"ended":"open",look:e=>`value-${Math.round(Math.min(Math.max(e.value,0),100)/10)}`,radius:e=>Math.max(1.6,li*Math.sqrt(e.visits/t))})}told(t){return[a("strong",{},t.move?a("co\
de",{},t.move):"The position that it thinks about"),a("div",{},`${y(t.visits,"visit")}, expects ${t.value.toFixed(1)}${t.ended?"; the game is over there":""}`),a("div",{class:"quiet"},"Click: go there")]}spoken(t){
return`${t.move??"The start"}, ${y(t.visits,"visit")}, expects ${t.value.toFixed(0)} of 100, ${y(t.out.length,"move")} on.`}go(t){this.sheet.large(!1);let e=[];for(let s=t;s.parent;s=s.parent)e.push(s.
way);this.onGo(this.from,e.reverse())}leave(){this.sheet.leave()}};var ps=8,Nt=class{constructor(t,{onHover:e,onGo:s,onOpen:i}){this.roles=t,this.all=!1,this.runs=new Map,this.live=a("div",{class:"thoughts"}),this.match=a("div",{}),this.tree=new qt({onGo:s,onOpen:i}),
this.element=a("div",{},this.live,this.tree.element,this.match),this.live.addEventListener("pointerover",o=>{let n=o.target.closest("[data-move]");e(n?.dataset.move??null,n?Number(n.dataset.role):null)}),
this.live.addEventListener("pointerleave",()=>e(null,null)),this.clear()}colour(t){this.element.classList.toggle("coloured",t.some(Boolean)),t.slice(0,8).forEach((e,s)=>this.element.style.setProperty(
`--role-${s}`,e))}clear(){this.runs.clear(),p(this.live,a("p",{class:"quiet"},"When a program thinks, this shows what it weighs. \u201CHint\u201D asks one what it would do for you."))}hide(){p(this.live,
a("p",{class:"quiet"},"Programs choose too; what they think is hidden until all have chosen.")),this.tree.clear("Hidden until all have chosen.")}show(t,e,s,i,o=null){let n=this.runs.get(t),h=n&&s.seconds>=
n.seconds&&n.player===e?n:{player:e,points:[]};Object.assign(h,{thought:s,running:i,onTake:o,isHint:o!==null,isStopped:!1,seconds:s.seconds}),s.value!==null&&h.points.push([s.seconds,s.value]),this.runs.
set(t,h),this.tree.expects(s.line),this.render()}stopped(t){let e=this.runs.get(t);e?.running&&(Object.assign(e,{running:!1,isStopped:!0}),this.render())}left(){for(let t of this.runs.values())t.isHint&&
Object.assign(t,{isStopped:t.isStopped||t.running,running:!1,onTake:null});[...this.runs.values()].some(t=>t.isHint)&&this.render()}grown(t,e,s,i){this.tree.grown(s,e,this.roles[t].name,i)}render(){p(
this.live,[...this.runs].map(([t,e])=>this.run(t,e)))}run(t,{player:e,points:s,thought:i,running:o,onTake:n,isHint:h,isStopped:l}){let c=this.roles[t].name,{move:u,value:d,nodes:f,seconds:g,candidates:E}=i,
k=[...E].sort((x,U)=>U.visits-x.visits||U.value-x.value),M=this.all?k:k.slice(0,ps),$=Math.max(1,...k.map(x=>x.visits));return a("div",{class:"thought"},a("h3",{},`${e} ${h?"for":"as"} ${c}`,o&&a("spa\
n",{class:"spinner","aria-hidden":"true"})),a("p",{},o?"Best so far: ":l?"Stopped. Best so far: ":h?"Would play ":"Plays ",a("code",{},u),d===null?"":`, expects ${d.toFixed(1)} of 100`,i.by_chance&&" \
(by chance)",". ",n&&!o&&m("Play it",()=>n(u),{class:"small"})),f>0&&a("p",{class:"quiet"},`${y(f,"position")} in ${g.toFixed(1)} s${g>.05?`, ${me(f/g)} a second`:""}`),M.length>0&&a("table",{class:"c\
andidates"},a("thead",{},a("tr",{},...["Move","Expects","Visits"].map(x=>a("th",{scope:"col"},x)))),a("tbody",{},...M.map(x=>ui(t,x,u,$)))),k.length>ps&&m(this.all?"Fewer":`All ${k.length}`,()=>{this.
all=!this.all,this.render()},{class:"small"}),s.length>1&&de([{index:t,name:c,points:s}],"s",`What ${c} expects over time: now ${s[s.length-1][1].toFixed(0)}`))}over(t){let e=this.roles.map(({name:s},i)=>({
index:i,name:s,points:t.filter(o=>o.values.has(i)).map(o=>[o.ply,o.values.get(i)])})).filter(({points:s})=>s.length>1);p(this.match,e.length>0&&a("div",{class:"thought"},a("h3",{},"Over the match"),a(
"p",{class:"legend"},e.map(({index:s,name:i})=>a("span",{},a("span",{class:`dot r${s%8}`}),i))),de(e,"move","What players expected over the match")))}};function ui(r,{move:t,visits:e,value:s,bounds:i},o,n){
let h=i[0]===i[1],l=a("span",{class:"bar"},a("span",{class:`r${r%8}`}));l.firstChild.style.width=`${e>0||h?Math.min(Math.max(s,0),100):0}%`;let c=a("span",{class:"share"});return c.style.width=`${(100*
e/n).toFixed(1)}%`,a("tr",{class:t===o?"best":null,"data-move":t,"data-role":r},a("td",{},a("code",{},t)),a("td",{title:h?"proved":`surely between ${i[0]} and ${i[1]}`},l,a("span",{class:"number"},`${e>
0||h?s.toFixed(1):"\u2013"}${h?" \u2713":""}`)),a("td",{class:"visits"},a("span",{class:"number"},e.toLocaleString("en")),c))}var ms=650,Pt=class{constructor({onGo:t,onUndo:e,onRedo:s}){this.onGo=t,this.first=m(T("first"),()=>this.go(this.line[0]),{"aria-label":"To the start",title:"To the start"}),this.undo=m("Undo",e,{title:"\
Take the last move back (u)"}),this.redo=m("Redo",s,{title:"Play the next move again (r)"}),this.last=m(T("last"),()=>this.go(this.line[this.line.length-1]),{"aria-label":"To the end",title:"To the en\
d"}),this.playing=m(T("play"),()=>this.timer?this.halt():this.play(),{"aria-label":"Play the moves",title:"Play the moves"}),this.slider=a("input",{type:"range",min:"0",max:"0",value:"0",step:"1","ari\
a-label":"Position in the match"}),this.slider.addEventListener("input",()=>this.go(this.line[Number(this.slider.value)])),this.count=a("span",{class:"quiet count"}),this.transport=a("div",{class:"tra\
nsport"},this.first,this.undo,this.redo,this.last,this.playing,this.slider,this.count),this.list=a("ol",{class:"history"}),this.list.addEventListener("click",i=>{let o=i.target.closest("[data-node]");
o&&this.go(this.nodes[Number(o.dataset.node)])}),this.element=this.list,this.line=[]}go(t){this.halt(),this.onGo(t)}play(){let t=async()=>{let e=this.timer;await this.onGo(this.line[this.here+1]??this.
line[0]),this.timer===e&&(this.here<this.line.length-1?this.timer=setTimeout(t,ms):this.halt())};this.timer=setTimeout(t,ms),this.face()}halt(){clearTimeout(this.timer),this.timer=null,this.face()}face(){
p(this.playing,T(this.timer?"pause":"play")),this.playing.setAttribute("aria-label",this.timer?"Stop playing the moves":"Play the moves")}show(t){this.line=t.line(),this.here=t.here.ply;let e=this.line.
length-1;this.slider.max=String(e),this.slider.value=String(this.here),this.slider.disabled=e===0,this.count.textContent=`${this.here} / ${e}`,this.first.disabled=this.undo.disabled=this.here===0,this.
last.disabled=this.redo.disabled=this.here===e,this.playing.disabled=e===0,this.nodes=[];let s=this.list.contains(document.activeElement);p(this.list,this.line.length>1?this.line.slice(1).map(o=>this.
row(o)):a("li",{class:"quiet none"},"No move yet."));let i=this.list.querySelector("[aria-current]");s&&i?.focus({preventScroll:!0}),i&&(this.list.scrollTop=Math.max(0,i.offsetTop-this.list.clientHeight/
2))}row(t){let e=t.parent.children.filter(s=>s!==t);return a("li",{},a("span",{class:"ply"},String(t.ply)),this.jump(t,t.ply===this.here),e.length>0&&a("div",{class:"branches"},a("span",{class:"quiet"},
"or "),e.map(s=>this.jump(s,!1))))}jump(t,e){let s=this.nodes.push(t)-1,i=t.parent.position?.turn;return a("button",{type:"button","data-node":s,"aria-current":e?"step":null,class:"joint"},t.joint.map(
(o,n)=>a("span",{class:i&&i.length>0&&!i.includes(n)?"forced":null},`${o} `)))}};var ge={share:["share of the points",({share:r,count:t})=>(r/t).toFixed(2)],score:["mean score",({score:r,count:t})=>(r/t).toFixed(0)]};function fe(){return{score:0,share:0,count:0}}var G=class{constructor(t){
this.players=t,this.cells=t.map(()=>t.map(fe)),this.played=t.map(fe),this.element=a("div",{class:"cross",tabindex:"0",role:"region","aria-label":"Cross table"})}meet(t,e){t.forEach((s,i)=>{s===null||e[i]===
null||(fs(this.played[s],e[i],0),t.forEach((o,n)=>{o===null||o===s||e[n]===null||fs(this.cells[s][o],e[i],(Math.sign(e[i]-e[n])+1)/2)}))})}show(t){let[e,s]=ge[t],{players:i,cells:o,played:n}=this,h=f=>f.
count>0?s(f):"",l=o.map(f=>f.reduce((g,{score:E,share:k,count:M})=>({score:g.score+E,share:g.share+k,count:g.count+M}),fe())),c=f=>l[f].count>0?l[f][t]/l[f].count:-1,u=f=>n[f].count>0?n[f].score/n[f].
count:-1,d=i.map((f,g)=>g).sort((f,g)=>c(g)-c(f)||u(g)-u(f));p(this.element,a("table",{},a("caption",{class:"unseen"},`Of each player against each other: ${e}`),a("thead",{},a("tr",{},a("th",{scope:"c\
ol"},"Player"),d.map((f,g)=>a("th",{scope:"col"},String(g+1))),a("th",{scope:"col"},t==="score"?"Mean":"Share"),a("th",{scope:"col"},"Score"),a("th",{scope:"col",title:"matches"},"Met"))),a("tbody",{},
d.map((f,g)=>a("tr",{},a("th",{scope:"row"},`${g+1}. ${i[f]}`),d.map(E=>a("td",{},E===f?"\xB7":h(o[f][E]))),a("td",{},a("strong",{},h(l[f]))),a("td",{},n[f].count>0?u(f).toFixed(1):""),a("td",{},String(
n[f].count)))))))}};function fs(r,t,e){r.score+=t,r.share+=e,r.count+=1}var di=1e3;function pi(r,t){let e=[];for(let s=0;s<r;s+=1)for(let i=s+1;i<r;i+=1)e.push(Array.from({length:t},(o,n)=>n%2===0?s:i)),e.push(Array.from({length:t},(o,n)=>n%2===0?i:s));return e}var It=class{constructor(t,e){
this.game=t,this.onMatch=e,this.players=a("textarea",{rows:"3",class:"players",spellcheck:"false","aria-label":"Players, one a line",value:`mcts:0.3s
minimax:0.3s
random`}),this.rounds=a("input",{type:"number",min:"1",max:"50",value:"1","aria-label":"Rounds"}),this.control=m("Start",()=>this.stop?this.stop.abort():this.start(),{class:"strong"}),this.trouble=b(),
this.state=a("p",{class:"quiet","aria-live":"polite"}),this.table=a("div"),this.list=a("ol",{class:"results"}),this.element=a("div",{class:"solve"},a("p",{class:"quiet"},"Each player meets each other \
one in both ways of sitting. One player a line, such as mcts:0.5s."),this.players,a("div",{class:"line-of"},this.control,a("label",{class:"seconds"},"Rounds ",this.rounds)),this.trouble,this.state,this.
table,this.list)}async start(){let t=this.players.value.split(`
`).map(o=>o.trim()).filter(Boolean);if(this.trouble.say(t.length<2?"A tournament needs two players or more, one a line.":""),t.length<2)return;let e=Math.min(Math.max(Math.round(Number(this.rounds.value))||
1,1),50),s=this.game.roles.filter(o=>!o.random).length,i=Array.from({length:e},()=>pi(t.length,s)).flat();this.cross=new G(t),p(this.table,this.cross.element),p(this.list),this.stop=new AbortController,
this.control.textContent="Stop";try{for(let[o,n]of i.entries()){let h=n.map(u=>t[u]),l=`Match ${o+1} of ${i.length}: ${h.join(" \u2013 ")}`,c=await this.match(h,l);this.count(t,n,c)}this.state.textContent=
i.length===1?"1 match was played.":`${i.length} matches were played.`}catch(o){this.state.textContent="",o.name==="AbortError"?this.state.textContent="Stopped.":this.trouble.say(o.message)}finally{this.
stop=null,this.control.textContent="Start"}}async match(t,e){let{signal:s}=this.stop,i=new R(null,null),o=[...t],n=this.game.roles.map(h=>h.random?"random":o.shift());for(;;){let h=i.moves();i.position=
await this.game.ask("position",{moves:h},s),this.state.textContent=`${e}, move ${i.ply}`;let{over:l,legal:c,turn:u}=i.position;if(l||i.ply>=di)return i;let d=await Promise.all(c.map((f,g)=>u.includes(
g)?V(this.game,{moves:h,role:g,player:n[g]},s,()=>{}):f[0]?.move));if(d.includes(void 0))return i;i=new R(i,d)}}count(t,e,s){let o=this.game.roles.map((l,c)=>c).filter(l=>!this.game.roles[l].random).map(
l=>s.position.goals[l]),n=s.moves(),h=o.map(l=>l??"\u2013").join(" : ");this.list.prepend(a("li",{},m(`${e.map(l=>t[l]).join(" \u2013 ")}  ${h}`,()=>this.onMatch(n),{class:"joint"}))),s.position.over&&
(this.cross.meet(e,o),this.cross.show("score"))}leave(){this.stop?.abort()}};var mi=120,fi=matchMedia("(max-width: 760px)"),tt=class{constructor(t,e){this.game=t,this.target=e,this.history=new kt,this.spots=[],this.seen=new Map;let s={onJoint:n=>this.joint(n),onChange:()=>this.
changed(),onThought:(n,h,l)=>this.thought(n,h,l),onTree:(n,h,l)=>this.grown(n,h,l),onTrouble:n=>this.trouble.say(n),onStop:n=>this.think.stopped(n)};this.atTable=e.table!==void 0,this.match=this.atTable?
new Tt(t,this.history,e,s):new ut(t,s),this.trouble=b(),this.status=a("p",{class:"status","aria-live":"polite"}),this.board=new W({onSpot:n=>this.spot(n),onClear:()=>this.choose([])});let i=n=>this.why.
ask(n);this.moves=new ht({onWhy:i,onMove:(n,h)=>this.move(n,h),onBack:n=>this.match.back(n),onHover:n=>this.mark({hover:new Set(n.map(h=>h.join(" ")))}),onClear:()=>this.choose([])}),this.facts=new mt(
i),this.timeline=new Pt({onGo:n=>this.go(n),onUndo:()=>this.step(-1),onRedo:()=>this.step(1)}),this.seats=new Lt(t.roles,{onWhy:i,onSit:(n,h)=>this.sit(n,h)});let o=(n,h)=>this.timeline.go(this.history.
graft(n,h));this.think=new Nt(t.roles,{onGo:o,onHover:(n,h)=>this.mark({hover:this.spotsOf(h,n)}),onOpen:()=>this.controls.grow()}),this.why=new $t(t,()=>this.history.here.moves(),()=>{fi.matches||this.
board.element.scrollIntoView({block:"nearest"})}),this.hover=new St(t,()=>this.history.here),this.controls=new pt(this),this.sharing=new At(this),this.solve=t.roles.length===1?new jt(t,{here:()=>this.
history.here,onPlan:(...n)=>this.plan(...n)}):null,this.graph=this.atTable?null:new bt(t,{here:()=>this.history.here,onGo:o}),this.tournament=t.roles.length>1&&!this.atTable?new It(t,n=>this.replay(n)):
null,this.tabs=new Rt([this.solve&&["Solve",this.solve.element],["History",this.timeline.element],["Thinking",this.think.element],this.graph&&["Graph",this.graph.element],this.tournament&&["Tournament",
this.tournament.element]].filter(Boolean)),this.write=C(mi,()=>this.address()),this.layout()}layout(){let{game:t}=this;this.element=a("article",{class:"game","aria-busy":"true"},a("div",{class:"game-h\
ead"},a("h1",{tabindex:"-1"},t.title,P(t)&&a("span",{class:"quiet subtitle"},` ${P(t)}`)),this.sharing.element),t.about.trim()&&a("details",{class:"unfold about"},a("summary",{},"About this game"),a("\
p",{},t.about.trim())),a("div",{class:"columns"},a("div",{class:"stage"},this.status,this.trouble,this.controls.element,this.board.element,this.timeline.transport,this.facts.element),a("div",{class:"s\
ide"},this.seats.element,this.atTable&&!this.target.key&&ns(this.target),this.sharing.invitation,this.moves.element),a("div",{class:"side"},this.tabs.element)),this.why.element,this.hover.element),this.
hover.listen(this.element),this.element.addEventListener("drop",e=>{let s=e.dataTransfer.files[0];s&&!this.atTable&&this.sharing.load(s)}),this.keys=e=>this.key(e)}async shown(){if(this.own=location.hash,
this.ended=F(()=>this.board.paint()),document.addEventListener("keydown",this.keys),this.solve?.shown(),this.atTable){await this.watch();return}let{moves:t,then:e,seats:s,early:i}=this.target,o=t.some(
c=>c.length<this.game.roles.length),n=await(i??(o?this.game.ask("position",{moves:t}).catch(()=>null):null));if(this.gone)return;let h=this.history.graft(this.history.root,n?.moves??t);if(this.history.
graft(h,e),h.position=n,h.position&&(this.board.show(h.position.svg,`Board of ${this.game.title}`),await Ae(),this.gone))return;let l=null;try{let c=await this.seats.load();this.usual=ze(this.game.roles,
c),l=s&&gi(s,this.game.roles,c),this.match.seats=s&&!l?s:[...this.usual],this.seats.sit(this.match.seats),this.controls.offer(c)}catch(c){this.trouble.say(c.message)}await this.go(h,t.length===0&&this.
match.seats.includes(w)),l&&this.trouble.say(l),this.target.damaged&&this.trouble.say("The moves in this address cannot be read: was all of it copied? This is the start.")}leave(){this.gone=!0,this.match.
stop(),this.controls.leave(),this.timeline.halt(),this.think.tree.leave(),this.hover.leave(),this.solve?.leave(),this.graph?.leave(),this.tournament?.leave(),this.table?.abort(),this.write.cancel(),this.
ended?.(),document.removeEventListener("keydown",this.keys),document.body.classList.remove("asking")}async load(t){return t.position??=await this.game.ask("position",{moves:t.moves()}),t.position}async go(t,e=!1){
let s=this.history.here;this.match.depart(),t!==s&&(this.controls.leave(),this.think.left(),e||this.think.clear()),this.seen.clear(),this.history.goto(t),this.timeline.show(this.history),this.spots=[],
this.hover.hide(),this.element.setAttribute("aria-busy","true");try{await this.load(t)}catch(o){if(this.gone||this.history.here!==t)return;this.trouble.say(o.message);let n=t.path(),h=o.body?.made??0,
l=s!==t&&s.position?s:n[Math.min(h,n.length-2)]??t;if(l!==t){let c=s===l?t:n[l.ply+1];c.parent.children=c.parent.children.filter(u=>u!==c),c.parent.next=null,await this.go(l),this.trouble.say(o.message)}
return}if(this.gone||this.history.here!==t)return;this.trouble.say(""),this.element.removeAttribute("aria-busy"),this.hint=null,this.board.show(t.position.svg,`Board of ${this.game.title}`),this.facts.
show(t.position);let i=hs(this.game.roles,t.position.drawing);this.seats.colour(i),this.think.colour(i),this.timeline.show(this.history),this.think.over(this.history.line()),this.match.arrive(t,e),this.
atTable||this.write(),t.parent&&!t.parent.position&&this.load(t.parent).then(()=>this.changed(),()=>{})}joint(t){for(let e of[...this.seen.keys()])this.reveal(e);this.go(this.history.child(this.history.
here,t),!0)}step(t){let e=this.history.line(),s=this.match.seats.includes(w)&&this.match.branches,i=this.history.here.ply+t,o=({position:n})=>!n||n.over||n.turn.some(h=>this.match.seats[h]===w);for(;s&&
e[i+t]&&!o(e[i]);)i+=t;e[i]&&this.timeline.go(e[i])}plan(t,e,s){this.timeline.halt(),this.history.graft(t,e.map(i=>[i])),this.go(s?t:t.next).then(()=>{s&&this.timeline.play()}),this.tabs.choose("Histo\
ry")}replay(t){this.match.pause(),this.timeline.go(this.history.graft(this.history.root,t))}address(){let{here:t}=this.history,{seats:e}=this.match,s=this.usual&&e.join(";")!==this.usual.join(";"),i=A(
this.game.path,{moves:t.moves(),then:this.history.ahead(),seats:s?e:null});location.hash===this.own&&(location.hash!==i&&history.replaceState(null,"",i),this.own=location.hash)}get active(){return this.
game.roles.findIndex((t,e)=>this.match.stateOf(e)==="open")}get choices(){return this.history.here.position?.legal[this.active]??[]}spotsOf(t,e){let s=this.history.here.position?.legal[t]?.find(i=>i.move===
e);return new Set((s?.spots??[]).map(i=>i.join(" ")))}spot(t){if(this.spots.includes(t))return this.choose(this.spots.filter(s=>s!==t));let e=[...this.spots,t];return this.choose(this.choices.some(s=>I(
s,e))?e:[t])}choose(t){let e=this.choices.filter(s=>I(s,t));if(t.length>0&&e.length===0&&(t=[]),t.length>this.spots.length&&e.length===1){this.move(this.active,e[0].move);return}this.spots=t,this.changed()}move(t,e){
this.match.node&&(this.spots=[],this.match.choose(t,e))}sit(t,e){this.match.sit(t,e),this.seats.sit(this.match.seats),this.write()}thought(t,e,s){this.tabs.suggest("Thinking"),this.match.secret?(this.
seen.set(t,[e,...this.seen.get(t)?.slice(1)??[]]),this.think.hide()):(this.reveal(t),this.think.show(t,this.match.seats[t],e,s)),this.controls.show()}grown(t,e,s){if(this.match.secret){this.seen.has(t)&&
this.seen.set(t,[this.seen.get(t)[0],e,s]);return}this.reveal(t),this.think.grown(t,this.match.seats[t],e,s)}reveal(t){if(!this.seen.has(t))return;let[e,...s]=this.seen.get(t);this.seen.delete(t),this.
think.show(t,this.match.seats[t],e,!1),s.length>0&&this.think.grown(t,this.match.seats[t],...s)}changed(){let{position:t}=this.history.here;if(!this.match.node||this.gone)return;let e=this.game.roles.
map((n,h)=>this.match.stateOf(h)),s=t.over?[]:this.game.roles.map(({name:n},h)=>({role:h,name:n,moves:t.legal[h]??[],state:e[h]==="thinking"?"others":e[h],back:this.match.branches&&this.match.seats[h]===
w})),i={open:0,chosen:1,others:2,single:3};this.moves.show(s.sort((n,h)=>i[n.state]-i[h.state]||n.role-h.role),this.spots);let o={open:"to move",chosen:"has chosen",thinking:"thinks \u2026",others:"",
single:""};this.seats.show(e.map((n,h)=>n==="others"&&t.turn.includes(h)&&!t.over?"to move":o[n]),t.goals,t.over),this.mark({}),this.say(t,e),this.controls.show()}say(t,e){let s=c=>ys(this.game.roles.
filter((u,d)=>c(d)).map(({name:u})=>u)),i=this.history.here.joint,o=this.history.here.parent?.position,n=i?this.game.roles.map(({name:c},u)=>!o||o.turn.length===0||o.turn.includes(u)?`${c} ${i[u]}`:null).
filter(Boolean).join(", "):"",h,l=this.game.roles.filter((c,u)=>t.legal[u]?.length===0);if(!t.over&&l.length>0)h=`${ys(l.map(({name:c})=>c))} cannot move, and the game is not over: the rules do not sa\
y how it goes on.`;else if(t.over){let c=this.game.roles.map(({name:u},d)=>t.goals[d]===null?null:`${u} ${t.goals[d]}`).filter(Boolean);h=`The game is over${c.length?`: ${c.join(", ")}`:""}.`}else if(this.
atTable&&this.history.here!==this.match.end)h=`This is earlier in the match, which stands at ${y(this.match.end.ply,"move")}.`;else if(this.match.failed)h=this.match.failed;else if(e.includes("open")){
let c=s(u=>e[u]==="thinking");h=`${s(u=>e[u]==="open")} to move${c?`; ${c} chooses too`:""}.`}else e.includes("thinking")?h=`${s(c=>e[c]==="thinking")} thinks \u2026`:t.turn.length===0?h="Nobody has a\
 choice.":this.atTable&&this.history.here===this.match.end?h=`Waiting for ${s(c=>t.turn.includes(c)&&e[c]!=="chosen")}.`:h=`${s(c=>t.turn.includes(c))} to move${this.match.waits?" (paused)":""}.`;p(this.
status,a("strong",{},h),n&&a("span",{class:"quiet"},` Last: ${n}`))}mark(t){let e=new Set,s=new Set;for(let l of this.choices){let c=this.spots.length>0&&I(l,this.spots);for(let u of l.spots.map(d=>d.
join(" ")))s.add(u),c&&!this.spots.includes(u)&&e.add(u)}let{joint:i,parent:o,position:n}=this.history.here,h=new Set;if(i?.forEach((l,c)=>{let u=o.position?.turn.includes(c)&&o.position.legal[c].find(
d=>d.move===l);for(let d of u?u.spots:[])h.add(d.join(" "))}),h.size>1){let l=[...h].filter(c=>gs(n,c)!==gs(o.position,c));l.length>0&&(h=new Set(l))}this.board.mark({chosen:new Set(this.spots),near:e,
open:s,last:h,hint:this.hint,...t})}key(t){if(!(t.ctrlKey||t.metaKey||t.altKey||t.target.closest?.("input, textarea, select"))){if(t.key==="u")this.step(-1);else if(t.key==="r")this.step(1);else if(t.
key==="Escape")this.choose([]);else return;t.preventDefault()}}async watch(){this.table=new AbortController,this.seats.fix(this.target.said.seats);try{for await(let t of rs(this.target.table,this.table.
signal,e=>this.trouble.say(e))){let e=this.history.here===this.match.end,s=this.match.changed(t);this.seats.fix(t.seats.map((i,o)=>o===this.target.seat&&this.target.key?`${i} (you)`:i)),e||!this.history.
here.position?await this.go(s,!0):(this.timeline.show(this.history),this.changed())}}catch(t){this.trouble.say(t.message)}}};function gi(r,t,e){if(r.length!==t.length)return`This address has ${r.length}\
 players, and the game ${t.length} roles: the usual ones sit there.`;let s=new Set([w,...e.map(({name:o})=>o)]),i=r.map(o=>dt(o).kind).find(o=>!s.has(o));return i===void 0?null:`There is no player cal\
led ${i}, as this address says: the usual ones sit there.`}function gs({drawing:r},t){let[e,s,i]=t.split(" ");return JSON.stringify(r.boards[e]?.contents[s]?.[i])}function ys(r){return r.length>1?`${r.
slice(0,-1).join(", ")} and ${r[r.length-1]}`:r[0]??""}var ws=64*1024*1024,vs=2e5,bs=60,ye=200;function ks(r,t){let e=t.trimStart().split(`
`,1)[0];if(/\.jsonl$/i.test(r))return!0;try{return Array.isArray(JSON.parse(e)?.players)}catch{return!1}}function yi(r,t){let e=t.split(`
`),s=new Map,i=!1;return e.forEach((o,n)=>{if(!o.trim())return;let h;try{h=JSON.parse(o)}catch{if(i=n===e.length-1,i)return;throw new Error(`${r}:${n+1}: this is no line of results: it is not JSON.`)}
if(!(typeof h?.game=="string"&&Array.isArray(h.players)&&Array.isArray(h.roles)&&h.players.length===h.roles.length&&h.players.every(c=>c===null||typeof c=="string")&&(h.scores===null||Array.isArray(h.
scores)&&h.scores.length===h.roles.length&&h.scores.every(c=>c===null||Number.isFinite(c)))))throw new Error(`${r}:${n+1}: this is no line of results: it needs \u201Cgame\u201D, and \u201Cplayers\u201D, \u201Croles\u201D and \u201Cscor\
es\u201D of one length.`);if(s.set(h.id??n,h),s.size>vs)throw new Error(`${r} has more than ${vs.toLocaleString("en")} matches.`)}),{matches:[...s.values()],cut:i}}var Ft=class{constructor(t){this.known=
t;let e=a("input",{type:"file",accept:".jsonl,.json",hidden:!0,"aria-label":"Results of a tournament"});e.addEventListener("change",async()=>{e.files[0]&&await this.load(e.files[0]),e.value=""}),this.
trouble=b(),this.state=a("p",{"aria-live":"polite"}),this.game=a("select",{"aria-label":"Matches of which game"}),this.measure=a("select",{"aria-label":"What the table says"},Object.entries(ge).map(([
s,[i]])=>a("option",{value:s},i)));for(let s of[this.game,this.measure])s.addEventListener("change",()=>this.show());this.choice=a("div",{class:"line-of",hidden:!0},this.game,this.measure),this.table=
a("div"),this.list=a("ol",{class:"results"}),this.element=a("section",{class:"panel cup","aria-label":"Tournaments"},a("h2",{},"Tournaments"),a("p",{class:"quiet"},"Drop the file here that ",a("code",
{},"ggp tournament --results FILE")," has written, to see who got how much from whom."),a("div",{class:"line-of"},m("Open results \u2026",()=>e.click()),e,this.state),this.trouble,this.choice,this.table,
this.list)}async load(t){try{if(t.size>ws)throw new Error(`${t.name} is larger than ${ws/1024/1024} MiB.`);this.take(t.name,await N(t))}catch(e){this.trouble.say(e.message)}}take(t,e){this.trouble.say(
"");try{let{matches:s,cut:i}=yi(t,e);if(s.length===0)throw new Error(`${t} has no match.`);this.matches=s,this.state.textContent=`${t}: ${y(s.length,"match").replace(/matchs$/,"matches")}${i?"; its la\
st line is cut off":""}.`;let o=[...new Set(s.map(({game:n})=>n))];p(this.game,o.length>1&&a("option",{value:""},`all ${o.length} games`),o.map(n=>a("option",{value:n},n))),this.choice.hidden=!1,this.
show()}catch(s){this.trouble.say(s.message)}this.element.scrollIntoView({block:"nearest"})}show(){let t=this.matches.filter(({game:l})=>!this.game.value||l===this.game.value),e=[...new Set(t.flatMap(l=>l.
players.filter(c=>c!==null)))];if(e.length>bs){this.trouble.say(`There are ${e.length} players: a table has at most ${bs}.`);return}let s=new G(e),i=new Map(e.map((l,c)=>[l,c])),o=t.filter(({scores:l})=>l!==
null);for(let{players:l,scores:c}of o)s.meet(l.map(u=>i.get(u)??null),c);s.show(this.measure.value);let n=t.length-o.length,h=t.reduce((l,c)=>l+(c.errors?.length??0),0);p(this.table,s.element,(n>0||h>
0)&&a("p",{class:"quiet"},[n>0&&`${n} not played to an end`,h>0&&y(h,"error")].filter(Boolean).join(", "))),p(this.list,t.slice(-ye).reverse().map(l=>this.row(l)),t.length>ye&&a("li",{class:"quiet"},`${(t.
length-ye).toLocaleString("en")} more`))}row({game:t,players:e,scores:s,moves:i}){let o=`${t}: ${e.map(h=>h??"chance").join(" \u2013 ")}  ${s?s.map(h=>h??"\u2013").join(" : "):"not ended"}`,n=this.known(
t);return a("li",{},n&&Array.isArray(i)&&i.every(Array.isArray)?a("a",{href:A(encodeURIComponent(n.id),{moves:i})},o):a("span",{},o))}};var Wt=class{constructor(t){this.onRules=t,this.search=a("input",{type:"search",class:"search wide",placeholder:"Search games","aria-label":"Search games"}),this.search.addEventListener("input",C(80,()=>this.
render())),this.trouble=b(),this.cards=a("ul",{class:"cards"}),this.count=a("p",{class:"quiet","aria-live":"polite"}),this.cup=new Ft(s=>this.named(s));let e=a("input",{type:"file",multiple:!0,hidden:!0});
e.addEventListener("change",()=>this.take(e.files)),this.element=a("section",{class:"home","aria-label":"Games"},a("div",{class:"hero"},a("h1",{tabindex:"-1"},"Any game, from its rules"),a("p",{},"Cho\
ose a game, or bring the rules of your own: the board is drawn, played, solved and explained from the rules alone."),a("div",{class:"line-of"},a("a",{class:"button strong",href:"#/edit"},"Write or pas\
te rules"),m("Open files or a match record \u2026",()=>e.click()),e)),this.trouble,a("div",{class:"line-of"},this.search,this.count),this.cards,this.cup.element),this.element.addEventListener("dragove\
r",s=>s.preventDefault()),this.element.addEventListener("drop",s=>{s.preventDefault(),this.take(s.dataTransfer.files)}),this.pasted=s=>{let i=s.clipboardData?.getData("text")??"";i.includes("(")&&!s.target.
closest?.("input")&&this.onRules({files:[{name:"rules.kif",text:i}],picture:null})},document.addEventListener("paste",this.pasted),this.load()}leave(){document.removeEventListener("paste",this.pasted)}async load(){
try{this.games=await ot(),this.render()}catch(t){this.trouble.say(t.message)}}render(){if(!this.games)return;let t=this.search.value.trim().toLowerCase().split(/\s+/).filter(Boolean),e=this.games.filter(
s=>{let i=`${s.id} ${s.name} ${s.about} ${s.roles.map(o=>o.name).join(" ")} ${xs(s)}`.toLowerCase();return t.every(o=>i.includes(o))});this.count.textContent=e.length===1?"1 game":`${e.length} games`,
p(this.cards,e.map(wi))}async take(t){this.trouble.say("");try{let e=await Yt(t),[s]=e.files;e.files.length===1&&ks(s.name,s.text)?this.cup.take(s.name,s.text):e.files.length===1&&s.text.trimStart().startsWith(
"{")?await this.record(s.text):s&&this.onRules(e)}catch(e){this.trouble.say(e.message)}}named(t){return this.games?.find(({id:e,name:s})=>e===t||s===t)}async record(t){let e=Mt(t),s=await Et(e);if(!s)
throw new Error(`No game here is called \u201C${e.game}\u201D: open its rules first, and load the record there.`);location.hash=A(s.path,{moves:e.moves})}};function wi(r){let t=r.about.trim().split(`
`).slice(_(r)===r.name?0:1).join(`
`).trim();return a("li",{},a("a",{class:"card",href:A(encodeURIComponent(r.id),{})},a("img",{src:`/api/games/${encodeURIComponent(r.id)}/picture.svg`,alt:"",loading:"lazy",decoding:"async"}),a("strong",
{},_(r)),P(r)&&a("span",{class:"quiet subtitle"},P(r)),a("span",{class:"badge"},xs(r)),a("span",{class:"about"},vi(t))))}function xs({roles:r}){let t=r.filter(e=>!e.random).length;return`${t===1?"puzz\
le for one":`${t} players`}${r.length>t?", chance":""}`}function vi(r){let t=r.match(/^Rules:\s*([\s\S]*?)(?=^\S+:|$(?![\s\S]))/m);return(t?t[1]:r).replaceAll(/\s+/g," ").trim()}var ve=document.getElementById("view"),Dt=null,we=0,O=null;function Bt(r,t){let e=Dt===null;Dt?.leave?.(),Dt=r,p(ve,r.element),document.title=t?`${t} \xB7 ggp`:"ggp",e||(scrollTo(0,0),r.element.querySelector(
"h1")?.focus({preventScroll:!0})),r.shown?.()}function $s(r,t){Bt(new ct(r,bi,t),"Your own rules")}function bi(r){O={game:r};let t=A(r.path,{});location.hash===t?be():location.hash=t}async function ki(r){
if(O?.game&&(O.game.id===r.game||O.game.path===`rules=${r.rules}`))return O.game;if(r.rules===void 0)return r.early=S(`/api/games/${encodeURIComponent(r.game)}/position`,{moves:r.moves}).catch(()=>null),
nt().catch(()=>{}),L.named(r.game);try{return await L.loaded(await rt(r.rules))}catch(t){throw t.status!==void 0?t:new Error("The rules in this address are damaged: was all of it copied?")}}async function xi(r){
let t=await as(r.table);r.key&&!await ue(r.table,r.key)&&(r.key=null,r.refused=!0);let e=await L.named(t.game).catch(async s=>{if(s.status!==404||!r.words.rules)throw s;return L.loaded(await rt(r.words.
rules))});return new tt(e,{...r,said:t})}async function be(){let r=we+=1,t=at(location.hash),{page:e}=t;if(e==="home")Bt(new Wt(s=>{O={rules:s},location.hash="#/edit"}));else if(e==="edit"){let s=O?.rules??
null;O=null,$s(s)}else{Dt||p(ve,a("p",{class:"quiet waiting"},"Loading \u2026"));try{let s=e==="table"?await xi(t):new tt(await ki(t),t);if(r!==we)return;O=null,s.onEdit=i=>{O={rules:i},location.hash=
"#/edit"},Bt(s,s.game.title)}catch(s){if(r!==we)return;if(s.status===422&&s.body?.findings&&t.rules){$s(await rt(t.rules),s.body.findings);return}Bt({element:a("section",{class:"home"},a("h1",{tabindex:"\
-1"},"This cannot be shown"),a("p",{class:"trouble",role:"alert"},s.message),a("p",{},a("a",{href:"#/"},"To the games")))},"Not found")}}}document.getElementById("theme").append(Be());document.querySelector(
".skip").addEventListener("click",r=>{r.preventDefault(),ve.focus()});addEventListener("hashchange",be);addEventListener("dragover",r=>r.preventDefault());addEventListener("drop",r=>r.preventDefault());
be();
