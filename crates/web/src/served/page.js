// Made by tests/web/bundle.mjs of crates/web/src/page, whose SHA-256 is 36d6a8a673137f39d61b16bed8dbb8b42884a9599df224e6a53c5c7a990d5794.
var V=class extends Error{constructor(t,e,s){super(e),this.status=t,this.body=s}};async function Ee(a,t,e){let s=t===void 0?{signal:e}:{method:"POST",headers:{"content-type":"application/json"},body:JSON.
stringify(t),signal:e},i;try{i=await fetch(a,s)}catch(l){throw l.name==="AbortError"?l:new V(0,"The server does not answer. Is `ggp web` still running?")}if(i.ok)return i;let n=await i.text(),r;try{r=
JSON.parse(n)}catch{}throw new V(i.status,r?.message??Cs(r)??(n.slice(0,300)||`The server answered ${i.status}.`),r)}function Cs(a){let t=a?.findings?.find?.(e=>e.severity==="error");return t&&`The ru\
les have errors: ${t.place?`${t.place.file}:${t.place.line}: `:""}${t.message}.`}async function S(a,t,e){return(await Ee(a,t,e)).json()}async function*Y(a,t,e){let i=(await Ee(a,t,e)).body.pipeThrough(
new TextDecoderStream).getReader(),n="";try{for(;;){let{value:r,done:l}=await i.read();if(l)return;n+=r.replaceAll("\r","");let h=n.split(`

`);n=h.pop();for(let c of h){let u=Ls(c);u&&(yield u)}}}catch(r){throw r.name==="AbortError"?r:new V(0,"The connection to the server broke.")}finally{i.cancel().catch(()=>{})}}function Ls(a){let t="me\
ssage",e=[];for(let s of a.split(`
`))s.startsWith("event:")&&(t=s.slice(6).trim()),s.startsWith("data:")&&e.push(s.slice(5).trimStart());return e.length?[t,JSON.parse(e.join(`
`))]:null}var at=()=>S("/api/games"),Me=(a,t)=>S("/api/check",a,t);function Te(a){let t;return()=>(t??=S(a).catch(e=>{throw t=void 0,e}),t)}var lt=Te("/api/players"),Ae=Te("/api/methods");var Os="http://www.w3.org/2000/svg";function Ce(a,t,e){for(let[s,i]of Object.entries(t))if(!(i==null||i===!1))if(s==="on")for(let[n,r]of Object.entries(i))a.addEventListener(n,r);else s==="value"?a.value=
i:a.setAttribute(s,i===!0?"":i);return a.append(...Le(e)),a}function Le(a){return a.flat().filter(t=>t!=null&&t!==!1)}function o(a,t={},...e){return Ce(document.createElement(a),t,e)}function w(a,t={},...e){
return Ce(document.createElementNS(Os,a),t,e)}function d(a,...t){return a.replaceChildren(...Le(t)),a}var Rs={first:"M5 4v12M16 4 7.5 10l8.5 6z",last:"M15 4v12M4 4l8.5 6L4 16z",play:"M6 4l10 6-10 6z",
pause:"M6.5 4v12M13.5 4v12",close:"M5 5l10 10M15 5 5 15",add:"M10 4v12M4 10h12",dark:"M15.5 12.2A6.5 6.5 0 0 1 7.8 4.5a6.5 6.5 0 1 0 7.7 7.7z",light:"M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M10 1.5\
v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6 16 16M4 16l1.4-1.4M14.6 5.4 16 4"};function C(a){return w("svg",{viewBox:"0 0 20 20",width:16,height:16,class:"icon","aria-hidden":"true"},w("path",
{d:Rs[a]}))}function m(a,t,e={}){return o("button",{type:"button",...e,on:{click:t}},a)}function b(){let a=o("p",{class:"trouble",role:"alert",hidden:!0});return a.say=t=>{a.textContent=t??"",a.hidden=
!t},a}function Oe(){return new Promise(a=>{requestAnimationFrame(()=>setTimeout(a)),setTimeout(a,100)})}function R(a,t){let e=0,s=(...i)=>{clearTimeout(e),e=setTimeout(()=>t(...i),a)};return s.cancel=
()=>clearTimeout(e),s}async function Jt(a,t){try{await navigator.clipboard.writeText(a)}catch{let s=o("textarea",{value:a,class:"copied",readonly:!0});document.body.append(s),s.select(),document.execCommand(
"copy"),s.remove()}let e=t.textContent;t.textContent="Copied",setTimeout(()=>{t.textContent=e},1200)}async function F(a){try{let t=new TextDecoder("utf-8",{fatal:!0}).decode(await a.arrayBuffer());if(!t.
includes("\0"))return t}catch(t){if(!(t instanceof TypeError))throw t}throw new Error(`${a.name} is not UTF-8 text.`)}function Re(a,t,e){let s=o("a",{download:a,href:URL.createObjectURL(new Blob([t],{
type:e}))});s.click(),setTimeout(()=>URL.revokeObjectURL(s.href),1e4)}function Kt(a){let t=[],e=0,s="";for(let[i]of a.matchAll(/[()]|[^\s()]+/g)){if(i===")"){if(e===0)throw new SyntaxError("there is a closing bracket without an opening one");e-=1,s+=")"}else s+=(s===""||
s.endsWith("(")?"":" ")+i,i==="("&&(e+=1);e===0&&(t.push(s),s="")}if(e>0)throw new SyntaxError("a bracket is not closed");return t}function je(a){return Kt(String(a)).join(" ")}var js=32*1024;function ht(a){let[t,e=""]=qe(a.replace(/^#?\/?/,""),"?"),s={};for(let n of e.split("&").filter(Boolean)){let[r,l=""]=qe(n,"=");s[r]=Vt(l)}let i={moves:Yt(s.moves)??[],then:Yt(s.then)??
[],damaged:Yt(s.moves)===null,seats:s.seats?s.seats.split(";"):null,key:s.key??null,seat:s.seat===void 0?null:Number(s.seat),words:s};return t===""?{...i,page:"home"}:t==="edit"?{...i,page:"edit"}:t.startsWith(
"rules=")?{...i,page:"game",rules:t.slice(6)}:t.startsWith("table/")?{...i,page:"table",table:Vt(t.slice(6))}:{...i,page:"game",game:Vt(t)}}function qe(a,t){let e=a.indexOf(t);return e<0?[a]:[a.slice(
0,e),a.slice(e+1)]}function Vt(a){try{return decodeURIComponent(a)}catch{return a}}function Yt(a){try{return(a??"").split(";").map(Kt).filter(t=>t.length>0)}catch{return null}}function L(a,{moves:t=[],
then:e=[],seats:s=null}){let i=[],n=r=>r.map(l=>l.map(encodeURIComponent).join("%20")).join(";");return t.length&&i.push(`moves=${n(t)}`),e.length&&i.push(`then=${n(e)}`),s&&i.push(`seats=${s.map(encodeURIComponent).
join(";")}`),`#/${a}${i.length?`?${i.join("&")}`:""}`}async function Ne(a,t){let e=new Blob([a]).stream().pipeThrough(t);return new Uint8Array(await new Response(e).arrayBuffer())}async function Pe(a){
if(typeof CompressionStream>"u")return null;let t=await Ne(new TextEncoder().encode(JSON.stringify(a)),new CompressionStream("deflate-raw")),e="";for(let i=0;i<t.length;i+=4096)e+=String.fromCharCode(
...t.subarray(i,i+4096));let s=btoa(e).replaceAll("+","-").replaceAll("/","_").replaceAll("=","");return s.length<js?s:null}async function ct(a){let t=atob(a.replaceAll("-","+").replaceAll("_","/")),e=await Ne(
Uint8Array.from(t,i=>i.charCodeAt(0)),new DecompressionStream("deflate-raw")),s=JSON.parse(new TextDecoder().decode(e));if(!Array.isArray(s.files))throw new Error("it contains no rule files");return s}var Fe="rules ";function qs(a){try{return JSON.parse(sessionStorage.getItem(Fe+a))}catch{return null}}function Ie(a,t){try{sessionStorage.setItem(Fe+a,JSON.stringify(t))}catch{}}var O=class a{constructor(t,e=null){
Object.assign(this,t),this.rules=e??{files:t.files,picture:t.picture??null},this.path=encodeURIComponent(t.id)}static async named(t){try{let e=new a(await S(`/api/games/${encodeURIComponent(t)}`));return e.
bundled?e:await e.addressed()}catch(e){let s=qs(t);if(e.status!==404||!s)throw e;return a.loaded(s)}}static async loaded(t){return new a(await S("/api/games",t),t).addressed()}async addressed(){Ie(this.
id,this.rules);let t=await Pe(this.rules);return t&&(this.path=`rules=${t}`),this}get title(){return X(this)}async reload(){this.id=(await S("/api/games",this.rules)).id,Ie(this.id,this.rules)}async again(t){
try{return await t()}catch(e){if(e.status!==404||this.bundled)throw e;return await this.reload(),t()}}ask(t,e,s){return this.again(()=>S(`/api/games/${encodeURIComponent(this.id)}/${t}`,e,s))}async*events(t,e,s){
let i=!1;for(let n=0;;n+=1)try{for await(let r of Y(`/api/games/${encodeURIComponent(this.id)}/${t}`,e,s))i=!0,yield r;return}catch(r){if(i||n>0||r.status!==404||this.bundled)throw r;await this.reload()}}};
function D(a){let t=s=>s.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean),e=t(X(a));return t(a.name).every(s=>e.includes(s))?null:a.name}function X({name:a,about:t}){let e=(t??"").trim().split(`\

`)[0].trim();return e&&e.length<=60&&!e.includes(":")?e:a}var Xt=3e3,ut=class{constructor(t){this.listener=t,this.search=o("input",{type:"search",placeholder:"Search moves","aria-label":"Search moves",class:"search"}),this.search.addEventListener("input",R(60,
()=>this.render())),this.search.addEventListener("keydown",e=>{let s=this.list.querySelector("button.move:not([disabled])");e.key==="Enter"&&s&&s.click(),e.key==="ArrowDown"&&s&&s.focus()}),this.about=
o("div",{class:"about-cells",hidden:!0}),this.list=o("div",{class:"move-list"}),this.list.addEventListener("click",e=>this.clicked(e)),this.list.addEventListener("pointerover",e=>this.hovered(e)),this.
list.addEventListener("focusin",e=>this.hovered(e)),this.list.addEventListener("pointerleave",()=>t.onHover([])),this.list.addEventListener("keydown",e=>this.walked(e)),this.element=o("section",{class:"\
panel moves","aria-label":"Legal moves"},o("h2",{},"Moves"),this.search,this.about,this.list)}show(t,e){this.groups=t,this.cells=e,this.render()}render(){let t=this.wanted();this.rows=[];let e=(this.groups??
[]).map(i=>this.section(i,t)),s=this.list.contains(document.activeElement);if(d(this.list,e.length?e:o("p",{class:"quiet"},"The game is over.")),s&&(this.list.querySelector("button.move")??this.search).
focus({preventScroll:!0}),this.about.hidden=this.cells.length===0,this.cells.length){let i=this.groups.filter(n=>n.state==="open").reduce((n,r)=>n+r.moves.filter(l=>B(l,this.cells)).length,0);d(this.about,
`${y(i,"move")} ${this.cells.length===1?"here":"for these cells"}`,m("Clear",()=>this.listener.onClear(),{class:"small"}))}}wanted(){let t=this.search.value.toLowerCase().split(/\s+/).filter(Boolean),
e=t.join(" ");return(this.groups??[]).filter(({state:i})=>i!=="chosen").flatMap(i=>i.moves).some(({move:i})=>i.toLowerCase().includes(e))?[e]:t}section({role:t,name:e,moves:s,state:i,back:n},r){if(i===
"chosen")return o("div",{class:"group"},o("h3",{},e),o("p",{class:"quiet"},"Has chosen (hidden until everyone has). ",n&&m("Choose again",()=>this.listener.onBack(t),{class:"small"})));let l=s.toSorted(
(u,p)=>Ns(u.move,p.move)).filter(u=>(i!=="open"||B(u,this.cells))&&r.every(p=>u.move.toLowerCase().includes(p))),h=l.slice(0,Xt).map(u=>this.row(t,e,u,i)),c=l.length===s.length?y(s.length,"move"):`${l.
length} of ${y(s.length,"move")}`;return o("div",{class:`group ${i}`},o("h3",{},e,o("span",{class:"quiet"},i==="single"?" \xB7 no choice":` \xB7 ${c}`)),o("ul",{},...h),l.length>Xt&&o("p",{class:"quie\
t"},`${l.length-Xt} more; use the search to see them.`))}row(t,e,s,i){let n=this.rows.push({role:t,name:e,move:s})-1,r=o(i==="open"?"button":"span",{class:"move",type:i==="open"?"button":null},s.move),
l=o("button",{type:"button",class:"why","aria-label":`Why is ${s.move} legal?`},"why?");return o("li",{"data-row":n,"data-why":`(legal ${e} ${s.move})`},r,l)}of(t){let e=t.target.closest("[data-row]");
return e?this.rows[Number(e.dataset.row)]:null}clicked(t){let e=this.of(t);e&&(t.target.closest(".why")?this.listener.onWhy(t.target.closest("[data-why]").dataset.why):t.target.closest("button.move")&&
this.listener.onMove(e.role,e.move.move))}hovered(t){this.listener.onHover(this.of(t)?.move.cells??[])}walked(t){if(t.key!=="ArrowDown"&&t.key!=="ArrowUp")return;let e=[...this.list.querySelectorAll("\
button.move")],s=e.indexOf(t.target.closest("li")?.querySelector("button.move"));(e[s+(t.key==="ArrowDown"?1:-1)]??(t.key==="ArrowUp"?this.search:null))?.focus(),t.preventDefault()}},Ns=new Intl.Collator(
"en",{numeric:!0}).compare;function B(a,t){return t.every(e=>a.cells.some(s=>s.join(" ")===e))}function y(a,t){return`${a.toLocaleString("en")} ${t}${a===1?"":"s"}`}var De="draft",Z="earlier draft",Ps=350,Is=2e5,Be=`; Two players name a number; the higher one wins.

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
`;function Zt(a){try{return JSON.parse(localStorage.getItem(a))}catch{return null}}function dt(a,t){try{localStorage.setItem(a,JSON.stringify(t))}catch{}}var We=({text:a})=>/\(\s*role\s/i.test(a);async function Qt(a){
let t={files:[],picture:null};for(let e of a){let s=await F(e);e.name.endsWith(".toml")?t.picture=s:t.files.push({name:e.name,text:s})}return t}var pt=class{constructor(t,e,s=null){this.onPlay=e;let i=Zt(
De);t&&i&&JSON.stringify(t)!==JSON.stringify(i)&&dt(Z,i),this.rules=t??i??{files:[{name:"rules.kif",text:""}],picture:null},this.rules.files.length===0&&this.rules.files.push({name:"rules.kif",text:""}),
this.at=0,this.findings=s??[],this.numbers=o("pre",{class:"numbers","aria-hidden":"true"}),this.behind=o("pre",{class:"behind","aria-hidden":"true"}),this.text=o("textarea",{class:"rules",wrap:"off",spellcheck:"\
false",autocapitalize:"off",autocomplete:"off","aria-label":"Rules",placeholder:"Paste rules in GDL here, or drop files."}),this.text.addEventListener("input",()=>this.typed()),this.text.addEventListener(
"scroll",()=>this.scrolled()),this.text.addEventListener("keydown",r=>this.key(r)),this.tabs=o("div",{class:"files"}),this.state=o("p",{class:"state","aria-live":"polite"}),this.list=o("ol",{class:"fi\
ndings"}),this.trouble=b(),this.play=m("Play",()=>this.start(),{class:"strong",disabled:!0});let n=o("input",{type:"file",multiple:!0,accept:".kif,.gdl,.txt,.toml",hidden:!0});n.addEventListener("chan\
ge",()=>this.take(n.files)),this.picture=o("p",{class:"quiet",hidden:!0}),this.before=m("Restore earlier rules",()=>this.earlier(),{class:"small",hidden:Zt(Z)===null}),this.other=o("p",{class:"quiet",
role:"status",hidden:!0},"Your earlier rules were replaced. \u201CRestore earlier rules\u201D brings them back."),this.element=o("section",{class:"editor","aria-label":"Your own rules"},o("h1",{tabindex:"\
-1"},"Your own rules"),o("p",{class:"quiet"},"Paste rules in GDL, or drop files here. Several files together make one game. The rules are checked as you type."),o("div",{class:"line-of"},this.tabs,m("\
Open files \u2026",()=>n.click(),{class:"small"}),n,m("Insert example",()=>this.example(),{class:"small"}),this.before),o("div",{class:"pane"},this.numbers,o("div",{class:"layers"},this.behind,this.text)),
this.other,this.picture,o("div",{class:"line-of"},this.play,this.state),this.trouble,this.list),this.check=R(Ps,()=>this.ask()),this.drops(this.element),this.open(0),s&&this.said({right:!1,findings:s,
omitted:0}),this.ask()}drops(t){t.addEventListener("dragover",e=>{e.preventDefault(),t.classList.add("over")}),t.addEventListener("dragleave",()=>t.classList.remove("over")),t.addEventListener("drop",
e=>{e.preventDefault(),t.classList.remove("over"),this.take(e.dataTransfer.files)})}async take(t){this.trouble.say("");let e;try{e=await Qt(t)}catch(r){this.trouble.say(r.message);return}let{files:s,picture:i}=e,
n=this.rules.files.filter(r=>r.text.trim()!==""&&!s.some(l=>l.name===r.name));s.some(We)&&n.some(We)&&(dt(Z,this.rules),this.before.hidden=!1,this.other.hidden=!1,this.rules={files:[],picture:null},n=
[]),this.rules.files=[...n,...s],this.rules.files.length===0&&this.rules.files.push({name:"rules.kif",text:""}),this.rules.picture=i??this.rules.picture,this.open(Math.max(0,this.rules.files.length-s.
length)),this.typed()}example(){this.text.value.trim()&&!this.text.value.startsWith("; Two players name")?(this.rules.files.push({name:"example.kif",text:Be}),this.open(this.rules.files.length-1)):this.
text.value=Be,this.typed()}earlier(){let t=Zt(Z);this.other.hidden=!0,dt(Z,this.rules),this.rules=t,this.open(0),this.typed()}open(t){this.at=t,this.text.value=this.rules.files[t].text,d(this.tabs,this.
rules.files.map(({name:e},s)=>{let i=m(e,()=>this.open(s),{class:"file","aria-pressed":String(s===t)});return this.rules.files.length>1?o("span",{class:"file-tab"},i,m(C("close"),()=>this.drop(s),{class:"\
plain","aria-label":`Remove ${e}`})):i}),m(C("add"),()=>this.add(),{class:"plain","aria-label":"Add a file",title:"Add a file"})),this.picture.hidden=!this.rules.picture,d(this.picture,"Uses a picture\
 file. ",m("Remove",()=>{this.rules.picture=null,this.open(this.at),this.typed()},{class:"small"})),this.mark(),this.scrolled()}add(){this.rules.files.push({name:`rules-${this.rules.files.length+1}.ki\
f`,text:""}),this.open(this.rules.files.length-1),this.text.focus()}drop(t){this.rules.files.splice(t,1),this.open(0),this.typed()}typed(){this.rules.files[this.at].text=this.text.value,dt(De,this.rules),
this.findings=[],this.mark(),this.play.disabled=!0,this.state.textContent="",this.check()}key(t){t.key==="Enter"&&(t.ctrlKey||t.metaKey)&&!this.play.disabled&&this.start()}scrolled(){this.behind.style.
transform=`translate(${-this.text.scrollLeft}px, ${-this.text.scrollTop}px)`,this.numbers.style.transform=`translateY(${-this.text.scrollTop}px)`}async ask(){if(this.rules.files.every(t=>t.text.trim()===
"")){this.said({right:!1,findings:[],omitted:0}),this.state.textContent="";return}this.stop?.abort(),this.stop=new AbortController,this.state.textContent="Checking \u2026";try{this.said(await Me({files:this.
rules.files,picture:this.rules.picture??null},this.stop.signal)),this.trouble.say("")}catch(t){if(t.name==="AbortError")return;this.state.textContent="",this.trouble.say(t.message)}}said({right:t,findings:e,
omitted:s}){this.findings=e,this.play.disabled=!t;let i=e.filter(l=>l.severity==="error").length,n=e.length-i,r=[i&&y(i,"error"),n&&y(n,"warning")].filter(Boolean).join(", ");this.state.textContent=t?
`No errors found${r?`; ${r}`:""}.`:r||"These rules are not a complete game yet.",this.state.className=`state ${t?"right":"wrong"}`,d(this.list,e.map(l=>this.finding(l)),s>0&&o("li",{class:"quiet"},`${s}\
 more.`)),this.mark()}finding(t){let{code:e,severity:s,message:i,place:n,notes:r,help:l}=t;return o("li",{class:s},m(n?`${n.file}:${n.line}:${n.column}`:"rules",()=>this.goto(n),{class:"place",disabled:!n}),
" ",o("span",{class:"severity"},`${s} ${e}`)," ",o("span",{class:"message"},i),(r??[]).map(h=>o("p",{class:"note"},m(`${h.place.line}:${h.place.column}`,()=>this.goto(h.place),{class:"place"}),` ${h.message}`)),
l&&o("p",{class:"note"},l))}range({line:t,column:e,text:s}){let i=this.text.value,n=0;for(let r=1;r<t;r+=1){let l=i.indexOf(`
`,n);if(l<0)break;n=l+1}return n+=[...i.slice(n,n+4*e)].slice(0,e-1).join("").length,[n,Math.min(i.length,n+Math.max(1,s?.length??1))]}fileOf(t){return Math.max(0,this.rules.files.findIndex(({name:e})=>e===
t.file))}goto(t){if(!t)return;this.fileOf(t)!==this.at&&this.open(this.fileOf(t));let[e,s]=this.range(t);this.text.focus(),this.text.setSelectionRange(e,s);let i=Number.parseFloat(getComputedStyle(this.
text).lineHeight);this.text.scrollTop=Math.max(0,(t.line-4)*i),this.scrolled()}mark(){let t=this.text.value,e=this.findings.filter(h=>h.place&&this.fileOf(h.place)===this.at),s=new Map;for(let{severity:h,
place:c}of e)s.get(c.line)!=="error"&&s.set(c.line,h);let i=t.split(`
`).length,n=`${i} ${[...s].join()}`;n!==this.numbered&&this.number(i,s),this.numbered=n;let r=[],l=0;if(e.length>0&&t.length<=Is){let h=e.map(c=>[...this.range(c.place),c]).sort((c,u)=>c[0]-u[0]);for(let[
c,u,{severity:p,message:f}]of h)c<l||(r.push(t.slice(l,c),o("mark",{class:p,title:f},t.slice(c,u))),l=u);r.push(`${t.slice(l)}
`)}d(this.behind,r)}number(t,e){let s=[],i=[],n=()=>{i.length&&s.push(`${i.join(`
`)}
`),i=[]};for(let r=1;r<=t;r+=1)e.has(r)?(n(),s.push(o("span",{class:`number ${e.get(r)}`},String(r)),`
`)):i.push(String(r));n(),d(this.numbers,s)}async start(){this.play.disabled=!0,this.trouble.say("");try{this.onPlay(await O.loaded({files:this.rules.files,picture:this.rules.picture??null}))}catch(t){
t.status===422&&t.body?.findings?this.said(t.body):this.trouble.say(t.message)}finally{this.play.disabled=!1}}leave(){this.check.cancel(),this.stop?.abort()}};var Ue=matchMedia("(prefers-color-scheme: dark)"),ee=new Set;function Ge(){try{return localStorage.getItem("theme")}catch{return null}}function Q(){let a=document.documentElement.dataset.theme;return a?
a==="dark":Ue.matches}function W(a){return ee.add(a),()=>ee.delete(a)}function te(a){d(a,C(Q()?"light":"dark")),a.setAttribute("aria-label",Q()?"Light colours":"Dark colours"),a.title=a.getAttribute("\
aria-label");for(let t of ee)t()}function He(){Ge()&&(document.documentElement.dataset.theme=Ge());let a=m("",()=>{document.documentElement.dataset.theme=Q()?"light":"dark";try{localStorage.setItem("t\
heme",document.documentElement.dataset.theme)}catch{}te(a)},{class:"plain"});return Ue.addEventListener("change",()=>te(a)),te(a),a}var Fs=new Set(["svg","g","rect","circle","ellipse","line","polyline","polygon","path","text","tspan","title","desc","style","defs","symbol","use","pattern","clipPath","mask","linearGradient","radialG\
radient","stop","marker","image"]),ze="rect,circle,ellipse,polygon,path",_e={ArrowLeft:[-1,0],ArrowRight:[1,0],ArrowUp:[0,-1],ArrowDown:[0,1]},Ds=2.1,Bs=`
:host { display: block; }
svg { display: block; margin: 0 auto; width: 100%; height: auto; background: none; border-radius: 8px; outline: none; }
[data-cell].open { cursor: pointer; }
.mark { fill: none; pointer-events: none; }
.mark.last { stroke: #8a8a8a; stroke-width: 2; stroke-dasharray: 3 3; }
.mark.hint { stroke: #00795a; stroke-width: 3; stroke-dasharray: 7 4; }
.mark.hover { stroke: #2f7fd1; stroke-width: 2; }
.mark.near { fill: #2f7fd1; fill-opacity: .2; stroke: #2f7fd1; stroke-width: 2; }
.mark.chosen { fill: #2f7fd1; fill-opacity: .16; stroke: #2f7fd1; stroke-width: 3.5; }
.mark.cursor { stroke: #d1267d; stroke-width: 3; }
svg:not(:focus-visible) .mark.cursor { display: none; }
`;function Ws(a){let t=new DOMParser().parseFromString(a,"image/svg+xml").documentElement;if(t.localName!=="svg"||t.getElementsByTagName("parsererror").length>0)return null;for(let e of[t,...t.querySelectorAll(
"*")]){if(!Fs.has(e.localName)){e.remove();continue}for(let{name:s,value:i}of[...e.attributes]){let n=s==="href"||s.endsWith(":href");(/^on/i.test(s)||n&&!/^(#|data:image\/(png|jpeg|webp|gif);)/.test(
i))&&e.removeAttribute(s)}}return document.importNode(t,!0)}var G=class{constructor({onCell:t,onClear:e,still:s=!1}){this.still=s,this.element=o("div",{class:"board"}),this.shadow=this.element.attachShadow(
{mode:"open"}),this.onCell=t,this.onClear=e,this.cells=new Map,this.marked={},this.cursor=null,this.own=new CSSStyleSheet,this.own.replaceSync(Bs)}show(t,e){if(t===this.text)return!0;this.text=null;let s=Ws(
t);if(!s)return this.shadow.replaceChildren(o("p",{},"The drawing cannot be shown. See the facts below.")),this.cells.clear(),!1;let i=this.shadow.activeElement!==null,n=[...s.querySelectorAll("style")];
this.sheet=new CSSStyleSheet,this.sheet.replaceSync(n.map(h=>h.textContent).join(`
`));for(let h of n)h.remove();this.shadow.adoptedStyleSheets=[this.sheet,this.own],this.paint();let r=s.viewBox.baseVal?.width||Number.parseFloat(s.getAttribute("width"))||300,l=s.viewBox.baseVal?.height||
Number.parseFloat(s.getAttribute("height"))||300;return s.style.maxWidth=`min(${Math.round(r*Ds)}px, ${(58*r/l).toFixed(1)}vh)`,s.style.minWidth=`${Math.round(r*.5)}px`,s.removeAttribute("aria-labelle\
dby"),this.svg=s,this.layer=w("g",{"aria-hidden":"true"}),this.still||this.listen(s),this.shadow.replaceChildren(s),this.place(s,e),s.append(this.layer),i&&s.focus({preventScroll:!0}),this.mark(this.marked),
this.text=t,!0}paint(){for(let t of this.sheet?.cssRules??[])t instanceof CSSMediaRule&&(t.asks??=t.media.mediaText,t.asks.includes("prefers-color-scheme")&&(t.media.mediaText=t.asks.includes("dark")===
Q()?"all":"not all"))}place(t,e){this.cells.clear();for(let s of this.still?[]:t.querySelectorAll("[data-cell]")){let i=s.dataset.cell;if(this.cells.has(i))continue;let n=s.matches(ze)?s:s.querySelector(
ze);if(!n)continue;let r=n.getBBox();this.cells.set(i,{group:s,shape:n,x:r.x+r.width/2,y:r.y+r.height/2}),s.id=`cell-${i.replaceAll(" ","-")}`,s.setAttribute("role","option");let l=[...s.querySelectorAll(
"text")].map(c=>c.textContent.trim()),h=s.querySelector("title")?.textContent??i;s.setAttribute("aria-label",[h,...l].filter(Boolean).join(", "))}if(this.cells.size===0){t.setAttribute("role","img"),t.
setAttribute("aria-label",e);return}t.setAttribute("tabindex","0"),t.setAttribute("role","listbox"),t.setAttribute("aria-label",`${e}. Arrow keys move between cells, Enter selects, Escape clears the s\
election.`),this.cursor&&!this.cells.has(this.cursor)&&(this.cursor=null)}listen(t){t.addEventListener("click",e=>{let s=e.target.closest("[data-cell]");s&&(this.cursor=s.dataset.cell,this.onCell(s.dataset.
cell))}),t.addEventListener("keydown",e=>{if(!(e.ctrlKey||e.metaKey||e.altKey)){if(_e[e.key])this.walk(_e[e.key]);else if((e.key==="Enter"||e.key===" ")&&this.cursor)this.onCell(this.cursor);else if(e.
key==="Escape")this.onClear();else return;e.preventDefault()}}),t.addEventListener("focus",()=>{let{open:e}=this.marked;this.cursor??=[...this.cells.keys()].find(s=>e?.has(s))??this.cells.keys().next().
value??null,this.mark(this.marked)})}walk([t,e]){let s=this.cells.get(this.cursor),i=null;for(let[n,{x:r,y:l}]of this.cells){if(!s){i=n;break}let h=(r-s.x)*t+(l-s.y)*e,c=Math.abs((r-s.x)*e)+Math.abs((l-
s.y)*t);h>.5&&(i===null||h+2*c<i.far)&&(i={cell:n,far:h+2*c})}this.cursor=typeof i=="string"?i:i?.cell??this.cursor,this.mark(this.marked)}mark(t){if(this.marked=t,!this.layer)return;let e=[];for(let s of[
"last","hint","near","chosen","hover"])for(let i of t[s]??[])e.push(this.outline(i,s));this.cells.has(this.cursor)&&(e.push(this.outline(this.cursor,"cursor")),this.svg.setAttribute("aria-activedescen\
dant",`cell-${this.cursor.replaceAll(" ","-")}`)),this.layer.replaceChildren(...e.filter(Boolean));for(let[s,{group:i}]of this.cells)i.classList.toggle("open",t.open?.has(s)??!1),i.setAttribute("aria-\
selected",String(t.chosen?.has(s)??!1))}outline(t,e){let s=this.cells.get(t);if(!s)return null;let i=s.shape.cloneNode(!1);for(let n of["id","style","fill","stroke","data-cell","role","aria-label"])i.
removeAttribute(n);return i.setAttribute("class",`mark ${e}`),i}};function x({over:a,faults:t}){return a||t.length>0}function U({roles:a},{goals:t,faults:e,over:s}){let i=a.map(({name:r},l)=>t[l]===null?null:`${r} ${t[l]}`).filter(Boolean),n=e.map(({message:r,rules:l})=>`\
 ${r}${l.length?` (rules concerned: ${l.join(" ")})`:""}.`);return`${s?`Game over${i.length?`: ${i.join(", ")}`:""}.`:"The match ends here."}${n.join("")}`}var v="person",Gs=350,Us=40,Hs=600,zs=700,mt=class{constructor(t,e){this.game=t,this.listener=e,this.seats=t.roles.map(()=>v),this.choices=new Map,this.thinking=new Map,this.paused=!1,this.node=null,this.
forced=0,this.branches=!0}depart(){this.stop(),this.node=null}arrive(t,e){this.stop(),this.node=t,this.choices.clear();let{legal:s,turn:i}=t.position;if(!x(t.position)){s.forEach((r,l)=>{r.length===1&&
this.choices.set(l,r[0].move)});let n=i.filter(r=>this.seats[r]!==v);!e&&n.length>0&&(this.paused=!0),this.forced=i.length===0&&e?this.forced+1:0,i.length===0&&(!e||this.forced>Us)&&(this.paused=!0),this.
paused||this.go()}this.listener.onChange()}go(){let{turn:t}=this.node.position;if(!x(this.node.position)){if(t.length===0){this.timer=setTimeout(()=>this.complete(),Gs);return}for(let e of t)this.seats[e]!==
v&&!this.choices.has(e)&&!this.thinking.has(e)&&this.think(e)}}async think(t){let e=this.node,s=new AbortController,i={stop:s,thought:null};this.thinking.set(t,i);try{let n=await tt(this.game,se(e,t,this.
seats[t]),s.signal,(r,l)=>{i.thought=r,r.value!==null&&e.values.set(t,r.value),this.listener.onThought(t,r,l)},r=>this.listener.onTree(t,e,r));if(this.thinking.get(t)!==i)return;this.thinking.delete(t),
this.choices.set(t,n),this.complete()}catch(n){if(n.name==="AbortError"||this.thinking.get(t)!==i)return;this.thinking.delete(t),this.listener.onStop(t),this.paused=!0,this.listener.onTrouble(n.message),
this.listener.onChange()}}choose(t,e){this.node&&(this.choices.set(t,e),this.paused=!1,this.go(),this.complete())}back(t){this.choices.delete(t),this.listener.onChange()}complete(){let t=this.seats.map(
(e,s)=>this.choices.get(s));t.every(e=>e!==void 0)?this.listener.onJoint(t):this.listener.onChange()}stateOf(t){if(!this.node||x(this.node.position))return"others";let{turn:e}=this.node.position;return e.
includes(t)?this.thinking.has(t)?"thinking":this.choices.has(t)?"chosen":this.seats[t]===v?"open":"others":"single"}get secret(){return this.node!==null&&!x(this.node.position)&&this.node.position.turn.
some(t=>this.seats[t]===v&&!this.choices.has(t))}get waits(){if(!this.node||x(this.node.position))return!1;let{turn:t}=this.node.position;return t.length===0||t.some(e=>this.seats[e]!==v&&!this.choices.
has(e))}pause(){this.paused=!0,this.stop(),this.listener.onChange()}resume(){this.paused=!1,this.forced=0,this.node&&this.go(),this.listener.onChange()}moveNow(){for(let[t,{stop:e,thought:s}]of[...this.
thinking])s&&(this.thinking.delete(t),e.abort(),this.listener.onThought(t,s,!1),this.choices.set(t,s.move));this.complete()}sit(t,e){this.seats[t]=e;let s=this.thinking.get(t);this.thinking.delete(t),
s?.stop.abort(),s&&this.listener.onStop(t),this.choices.delete(t);let i=this.node?.position.legal[t]??[];i.length===1&&this.choices.set(t,i[0].move),this.seats.includes(v)||(this.paused=!0),this.node&&
!this.paused&&this.go(),this.listener.onChange()}stop(){clearTimeout(this.timer);let t=[...this.thinking];this.thinking.clear();for(let[e,{stop:s}]of t)s.abort(),this.listener.onStop(e)}};function se(a,t,e){
return{moves:a.moves(),role:t,player:e,tree:Hs}}async function tt(a,t,e,s,i=()=>{}){for(;;)try{for await(let[n,r]of a.events("think",t,e)){if(n==="failed")throw new Error(r.message);if(n==="tree"?i(r):
s(r,n==="thought"),n==="move")return r.move}throw new Error("The player ended without a move.")}catch(n){if(n.status!==429)throw n;await new Promise(r=>{setTimeout(r,zs)}),e.throwIfAborted()}}function ft(a){
let[t,e=""]=a.split(/:(.*)/s),[s,...i]=e.split(","),n=/^[\d.]+s?$/.test(s);return{kind:t,time:n?s:"",options:(n?i:[s,...i]).filter(Boolean).join(",")}}function Je({kind:a,time:t,options:e}){let s=[t,e].
filter(Boolean).join(",");return s?`${a}:${s}`:a}function Ke(a,t){let e=t.find(i=>i.name==="auto")??t.find(i=>i.thinks)??t[0],s=a.findIndex(i=>!i.random);return a.map((i,n)=>n===s||!e?v:i.random&&t.some(
r=>r.name==="random")?"random":e.thinks?`${e.name}:1s`:e.name)}var gt=class{constructor(t){this.view=t,this.pause=m("Pause",()=>t.match.paused?t.match.resume():t.match.pause()),this.now=m("Move now",()=>t.match.moveNow(),{title:"Take the best move found so far"}),
this.ask=m("Hint",()=>this.stop?this.stop.abort():this.hint()),this.kind=o("select",{"aria-label":"Player that gives the hint"}),this.hints=o("span",{class:"hints",hidden:!0},this.ask," by ",this.kind),
this.element=o("div",{class:"controls"},this.pause,this.now,this.hints)}offer(t){let e=t.filter(s=>s.thinks);d(this.kind,e.map(({name:s,what:i})=>o("option",{value:s,title:i},s))),e.some(({name:s})=>s===
"mcts")&&(this.kind.value="mcts")}show(){let{match:t}=this.view,e=t.thinking.size>0;this.pause.hidden=!(e||t.waits)||!t.branches,this.pause.textContent=t.paused?"Continue":"Pause",this.pause.classList.
toggle("strong",t.paused),this.now.hidden=!e||![...t.thinking.values()].some(s=>s.thought),this.hints.hidden=this.kind.options.length===0||this.view.active<0&&!this.stop,this.ask.textContent=this.stop?
"Stop":"Hint"}grow(){[...this.kind.options].some(({value:e})=>e==="mcts")&&!this.stop&&this.view.active>=0&&this.hint("mcts:5s")}async hint(t=`${this.kind.value}:2s`){let{view:e}=this,s=e.active,i=e.history.
here;this.stop=new AbortController,this.show(),e.think.clear(),e.tabs.choose("Thinking");try{await tt(e.game,se(i,s,t),this.stop.signal,(n,r)=>{e.history.here===i&&(e.think.show(s,t,n,r,l=>e.move(s,l)),
e.hint=e.cellsOf(s,n.move),e.mark({}))},n=>e.think.grown(s,t,i,n))}catch(n){e.history.here===i&&e.think.stopped(s),n.name!=="AbortError"&&e.trouble.say(n.message)}finally{this.stop=null,this.show()}}leave(){
this.stop?.abort()}};var ie=3e3,yt=class{constructor(t){this.onWhy=t,this.summary=o("summary",{},"Facts"),this.search=o("input",{type:"search",class:"search",placeholder:"Search facts","aria-label":"Search facts"}),this.search.
addEventListener("input",R(60,()=>this.render())),this.list=o("ul",{class:"facts"}),this.letters=o("pre",{class:"letters"}),this.list.addEventListener("click",s=>{s.target.closest(".why")&&t(s.target.
closest("[data-why]").dataset.why)});let e=o("details",{class:"unfold"},this.summary,this.search,this.list);e.addEventListener("toggle",()=>this.render()),this.folded=e,this.element=o("div",{class:"be\
low"},e,o("details",{class:"unfold"},o("summary",{},"Board as text"),this.letters))}show({facts:t,text:e}){this.facts=t,this.letters.textContent=e,this.summary.textContent=`Facts (${t.length.toLocaleString(
"en")})`,this.render()}render(){if(!this.folded.open||!this.facts)return;let t=this.search.value.trim().toLowerCase().split(/\s+/).filter(Boolean),e=this.facts.filter(s=>t.every(i=>s.toLowerCase().includes(
i)));d(this.list,e.slice(0,ie).map(s=>o("li",{"data-why":`(true ${s})`},o("code",{},s),o("button",{type:"button",class:"why","aria-label":`Why ${s}?`},"why?"))),e.length>ie&&o("li",{class:"quiet"},`${y(
e.length-ie,"fact")} more; use the search to see them.`))}};var wt=class{constructor(){this.nodes=[],this.arcs=[],this.levels=[],this.alike=new Map,this.complete=!1}grow({nodes:t,arcs:e}){let s=t.map(i=>{let n={...i,in:[],out:[],lost:!1};return this.nodes[n.id]=
n,this.levels[n.level]=(this.levels[n.level]??0)+1,this.alike.has(n.same)||this.alike.set(n.same,[]),this.alike.get(n.same).push(n),n});for(let{from:i,to:n,move:r}of e){let l={from:this.nodes[i],to:this.
nodes[n],move:r,chance:this.arcs.length*.618034%1};l.repeats=l.to.level<=l.from.level,l.from.out.push(l),l.to.in.push(l),this.arcs.push(l)}return s}end({complete:t,dead:e}){this.complete=t;for(let s of e)
this.nodes[s].lost=!0}kind(t){return t.status==="solved"?"solved":t.status==="dead"?"end":t.lost?"lost":t.out.length>0||this.complete?"open":"fresh"}pathsTo(t){let e=new Set(t),s=new Set;for(let i of e)
for(let n of i.in)n.repeats||(s.add(n),e.add(n.from));return{nodes:e,arcs:s}}countPaths(t){let{nodes:e,arcs:s}=this.pathsTo([t]),i=new Map;for(let n of[...e].sort((r,l)=>r.level-l.level)){let r=n.in.reduce(
(l,h)=>s.has(h)?l+i.get(h.from):l,0);i.set(n,n.id===0?1:r)}return i.get(t)}nearest(){let t=[];for(let e of this.nodes)e.status!=="solved"||t[0]?.level<e.level||(t[0]?.level>e.level&&(t=[]),t.push(e));
return t}path(t){let e=[];for(let s=t;s.from!==null&&s.from!==void 0;s=this.nodes[s.from])e.push(s.joint);return e.reverse()}};var Ve=400,vt=class{constructor(t,{onGo:e,onClose:s}){Object.assign(this,{game:t,onGo:e,onClose:s}),this.board=new G({still:!0}),this.board.element.classList.add("still"),this.trouble=b(),this.said=o(
"div",{"aria-live":"polite"}),this.facts=o("div"),this.element=o("section",{class:"glance","aria-label":"Selected position",hidden:!0},this.said,this.board.element,this.trouble,this.facts),this.ended=
W(()=>this.board.paint())}async show(t,e,s,i){this.node=t,this.element.hidden=!1,this.trouble.say(""),d(this.said,o("h3",{},s),i.map(n=>o("p",{},n)),o("div",{class:"line-of"},m("Go there",()=>this.onGo(
t),{class:"strong small"}),m("Close",()=>this.onClose(),{class:"small"}))),this.stop?.abort(),this.stop=new AbortController;try{if(t.position??=await this.game.ask("position",{moves:e},this.stop.signal),
this.node!==t)return;let{svg:n,facts:r}=t.position;this.board.element.hidden=!1,this.board.show(n,s),d(this.facts,x(t.position)&&o("p",{},U(this.game,t.position)),o("details",{class:"unfold"},o("summa\
ry",{},`Facts (${r.length.toLocaleString("en")})`),o("ul",{class:"facts"},r.slice(0,Ve).map(l=>o("li",{},o("code",{},l))),r.length>Ve&&o("li",{class:"quiet"},"\u2026"))))}catch(n){if(n.name==="AbortEr\
ror"||this.node!==t)return;this.board.element.hidden=!0,d(this.facts),this.trouble.say(n.message)}}close(){this.node=null,this.stop?.abort(),this.element.hidden=!0}leave(){this.close(),this.ended()}};var bt=class{constructor(){this.ranks=[]}add(t){for(let[e,s]of Map.groupBy(t,i=>i.level)){this.ranks[e]||(e>0&&this.settle(e-1),this.ranks[e]=[]);for(let i of s)i.pull=Ye(i),i.x=i.pull;this.ranks[e]=_s(
this.ranks[e],s.sort(Xe)),Ze(this.ranks[e])}}settle(t){for(let e of this.ranks[t])e.pull=Ye(e);this.ranks[t].sort(Xe),Ze(this.ranks[t])}};function Ye(a){let t=0,e=0;for(let{from:s,repeats:i}of a.in)i||
(t+=s.goal,e+=1);return e>0?t/e:.5}function Xe(a,t){return a.pull-t.pull||a.id-t.id}function _s(a,t){let e=[],s=0;for(let i of t){for(;s<a.length&&a[s].pull<=i.pull;)e.push(a[s++]);e.push(i)}return e.
concat(a.slice(s))}function Ze(a){a.forEach((t,e)=>{t.goal=(e+.5)/a.length})}function Qe(a){let t=[],e=0,s=(i,n)=>{i.level=n,(t[n]??=[]).push(i);for(let{to:h}of i.out)s(h,n+1);let[r,l]=[i.out[0]?.to,i.
out.at(-1)?.to];i.goal=r?(r.goal+l.goal)/2:(e+=1)-.5};s(a,0);for(let i of t.flat())i.goal/=e;return t}var Js=Array.from({length:10},(a,t)=>{let e=t%2===0?1.45:.62,s=Math.PI*(t/5-.5);return[e*Math.cos(s),e*Math.sin(s)]}),Ks=[[-1,-.55],[-.55,-1],[0,-.45],[.55,-1],[1,-.55],[.45,0],[1,.55],[.55,1],[0,.45],
[-.55,1],[-1,.55],[-.45,0]],ne={solved:{corners:Js},end:{corners:[[-.9,-.9],[.9,-.9],[.9,.9],[-.9,.9]]},lost:{corners:Ks},fresh:{hollow:!0},ended:{corners:[[-.9,-.9],[.9,-.9],[.9,.9],[-.9,.9]]}};function oe(a){
return ne[a]?.hollow??!1}function ts(a,t,e,s,i){let n=ne[t]?.corners;if(!n){a.moveTo(e+i,s),a.arc(e,s,i,0,2*Math.PI);return}n.forEach(([r,l],h)=>a[h===0?"moveTo":"lineTo"](e+i*r,s+i*l)),a.closePath()}
function q(a,t=a){let e=ne[a]?.corners,s=oe(a)?{fill:"none",stroke:"currentColor","stroke-width":2}:{fill:"currentColor"};return w("svg",{viewBox:"-9 -9 18 18",width:16,height:16,class:`look-${t}`,"ar\
ia-hidden":"true"},e?w("polygon",{points:e.map(([i,n])=>`${5*i},${5*n}`).join(" "),...s}):w("circle",{r:5,...s}))}var Vs=2e4,Ys=4e3,Xs=100,Zs=300,es=250,kt=300,Qs=6.7;function ss(a,t,e,[s,i],n){let r=new re(a,t,e,s,i,n);a.clearRect(0,0,s,i),a.lineCap="round";let l=r.arcs(),h=r.nodes();return r.rings(),r.levels(),
a.globalAlpha=1,{arcs:l,nodes:h}}var re=class{constructor(t,e,s,i,n,r){Object.assign(this,{context:t,scene:e,view:s,width:i,height:n,state:r})}at({x:t,level:e}){return[this.view.left+t*this.view.kx,this.
view.top+e*this.view.ky]}sight({from:t,to:e}){let[s,i]=this.at(t),[n,r]=this.at(e),{width:l,height:h}=this;if(s<0&&n<0||s>l&&n>l||i<0&&r<0||i>h&&r>h)return 0;let c=(u,p)=>u>=0&&u<=l&&p>=0&&p<=h;return c(
s,i)||c(n,r)?2:1}arcs(){let{scene:t,state:{moving:e}}=this,s={through:[],faint:[],plain:[],again:[],lit:[]};for(let l of t.arcs){let h=t.repeats||!l.repeats?this.sight(l):0;if(h===0)continue;let c=t.lit.
arcs.has(l)?"lit":h===1?"through":l.repeats?"again":t.isFaint(l.to)?"faint":"plain";s[c].push(l)}let i=Object.values(s).reduce((l,h)=>l+h.length,0),n=e?Ys:Vs;for(let[l,h]of Object.entries(s)){let c=(l===
"through"?Zs:n)/(l==="through"?h.length:i);if(c>=1)continue;let u=new Map;for(let{from:p}of h)u.set(p.level,(u.get(p.level)??0)+1);s[l]=h.filter(({chance:p,from:f})=>p<c||l!=="through"&&u.get(f.level)<=
Xs)}this.lines(s.through,"arc",.12,1),this.washed(s.faint,"arc",.4),this.washed(s.plain,"arc",1),this.context.setLineDash(s.again.length<600?[4,3]:[]),this.washed(s.again,"again",1.2),this.context.setLineDash(
[]);let r=s.lit.length;return this.lines(s.lit,"lit",Math.max(.3,Math.min(1,Math.sqrt(150/r))),r<150?2.2:r<600?1.4:1),Object.values(s).reduce((l,h)=>l+h.length,0)}washed(t,e,s){let i=Map.groupBy(t,({from:n})=>n.
level);for(let n of i.values())this.lines(n,e,Math.max(.13,Math.min(.9,Math.sqrt(60/n.length)))*s,1)}lines(t,e,s,i){let{context:n}=this;n.strokeStyle=this.state.colours[e],n.globalAlpha=Math.min(1,s),
n.lineWidth=i;for(let r=0;r<t.length;r+=kt){n.beginPath();for(let l of t.slice(r,r+kt))this.line(l);n.stroke()}}line({from:t,to:e,repeats:s}){let{context:i}=this,[n,r]=this.at(t),[l,h]=this.at(e);if(i.
moveTo(n,r),t===e)i.arc(n-9,r,9,0,2*Math.PI);else if(s){let c=.12+12/Math.max(Math.hypot(l-n,h-r),24);i.quadraticCurveTo((n+l)/2+c*(r-h),(r+h)/2+c*(l-n),l,h)}else i.lineTo(l,h)}part(t){if(!this.state.
settled)return t;let{left:e,kx:s}=this.view;return t.slice(xt(t,(-20-e)/s),xt(t,(this.width+20-e)/s))}nodes(){let{scene:t,view:{ky:e,kx:s,top:i},state:{colours:n}}=this,r=new Map,l=[],h=0,c=Math.max(0,
Math.floor((-20-i)/e)),u=Math.min(t.ranks.length-1,Math.ceil((this.height+20-i)/e));for(let p=c;p<=u;p+=1){let f=t.ranks[p],g=Math.min(s/f.length,e),E={},A=this.part(f);for(let[M,k]of A.entries()){let[
T,J]=this.at(k),K=t.kind(k),$=t.look(k,K),N=t.lit.nodes.has(k);if(!N&&Math.abs(T-E[$])<.9)continue;E[$]=T;let rt=Math.max(t.radius(k,g),N?2.5:0),_t=`${K} ${$} ${t.isFaint(k)&&!N}`;r.has(_t)||r.set(_t,
{kind:K,look:$,faint:t.isFaint(k)&&!N,circles:[]}),r.get(_t).circles.push(T,J,rt),h+=1;let Se=A[M+1]?(A[M+1].x-k.x)*s-2*rt:this.width-T-rt;Se>40&&e>16&&T>0&&T<this.width&&l.push([k,T+rt+4,J,Se])}}for(let p of r.
values())this.discs(p,n);return l.length>es&&(l=l.filter(([p])=>t.lit.nodes.has(p)).slice(0,es)),this.words(l),h}discs({kind:t,look:e,faint:s,circles:i},n){let{context:r}=this;r.globalAlpha=s?.4:1;let l=oe(
t);r.fillStyle=l?n.ground:n[e],r.strokeStyle=l?n[e]:n.ground,r.lineWidth=l?1.6:1;for(let h=0;h<i.length;h+=3*kt){r.beginPath();let c=!1;for(let u=h;u<Math.min(i.length,h+3*kt);u+=3){let[p,f,g]=[i[u],i[u+
1],i[u+2]];c||=g>2.4,g>2.4?ts(r,t,p,f,g):r.rect(p-g,f-g,2*g,2*g)}l&&!c&&(r.fillStyle=n[e]),r.fill(),c&&r.stroke()}}words(t){let{context:e,scene:s,state:{colours:i}}=this;e.globalAlpha=1,e.font='11px u\
i-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',e.textAlign="left",e.textBaseline="middle",e.lineJoin="round",e.lineWidth=3,e.strokeStyle=i.ground,e.fillStyle=i.text;for(let[n,r,l,h]of t){
let c=ti(s.words(n),Math.floor((h-6)/Qs));e.strokeText(c,r,l),e.fillText(c,r,l)}}rings(){let{context:t,scene:e,view:{kx:s,ky:i},state:{rings:n,colours:r}}=this;t.globalAlpha=1;for(let[l,h,c]of n){t.strokeStyle=
r[l],t.lineWidth=h;for(let u of c){let[p,f]=this.at(u),g=Math.min(s/e.ranks[u.level].length,i);t.beginPath(),t.arc(p,f,Math.max(e.radius(u,g),2)+3.5,0,2*Math.PI),t.stroke()}}}levels(){let{context:t,scene:e,
view:{top:s,ky:i},state:{colours:n}}=this;t.globalAlpha=1,t.font='11px system-ui, "DejaVu Sans", sans-serif',t.textAlign="left",t.textBaseline="middle",t.fillStyle=n.quiet,t.strokeStyle=n.ground,t.lineWidth=
4;let r=Math.max(1,Math.ceil(15/i));for(let l=0;l<e.ranks.length;l+=r){let h=s+l*i;h<-10||h>this.height+10||(t.strokeText(String(l),6,h),t.fillText(String(l),6,h))}}};function xt(a,t){let[e,s]=[0,a.length];
for(;e<s;){let i=e+s>>1;a[i].goal<t?e=i+1:s=i}return e}function ti(a,t){return a.length<=t?a:t<6?"":`${a.slice(0,t-1)}\u2026`}var ei=[40,22,26,30],si=600,ii=24,et=[170,110],ni=12,oi=110,ri=140,st=60,ae={ArrowLeft:[-1,0],ArrowRight:[1,0],ArrowUp:[0,-1],ArrowDown:[0,1]},is=["ground","text","quiet","arc","again","lit","chosen",
"open","fresh","solved","end","lost",...Array.from({length:11},(a,t)=>`value-${t}`)],ai={ranks:[],arcs:[],lit:{nodes:new Set,arcs:new Set}},H=class{constructor(t,e){this.listener=e,this.scene=ai,this.
chosen=this.meant=this.cursor=null,this.alike=[],this.view={zoom:1,kx:1,ky:1,left:0,top:0},this.base=[1,1],this.follows=!0,this.frames=0,this.drawn={nodes:0,arcs:0},this.canvas=o("canvas",{tabindex:"0",
role:"application","aria-label":`${t}. Arrow keys move between positions, Enter opens one, plus and minus zoom, 0 shows everything, Shift with arrow keys moves the view.`}),this.canvas.sheet=this,this.
tip=o("div",{class:"sheet-tip",hidden:!0}),this.description=o("p",{class:"unseen","aria-live":"polite"}),this.probes=o("span",{hidden:!0},is.map(s=>o("span",{class:`look-${s}`}))),this.tools=o("div",{
class:"sheet-tools"},m("+",()=>this.enlarge(1.5),{class:"small","aria-label":"Zoom in",title:"Zoom in (+)"}),m("\u2212",()=>this.enlarge(1/1.5),{class:"small","aria-label":"Zoom out",title:"Zoom out (\
-)"}),m("Fit",()=>this.fit(),{class:"small",title:"Show all (0)"})),this.element=o("div",{class:"sheet"},this.canvas,this.tools,this.tip,this.description,this.probes),this.pointers=new Map,this.listen(),
this.watch=new ResizeObserver(()=>this.resized()),this.watch.observe(this.canvas),this.ended=W(()=>{this.colours=null,this.request()})}spreads(t){let e=m("Large",()=>this.large(!t.classList.contains("\
large")),{class:"small","aria-pressed":"false",title:"Full window (Escape to leave)"});this.tools.append(e),this.large=s=>{t.classList.toggle("large",s),e.textContent=s?"Small":"Large",e.setAttribute(
"aria-pressed",String(s))},t.addEventListener("keydown",s=>{s.key==="Escape"&&this.large(!1)})}show(t){this.scene=t,t.ranks[this.cursor?.level]?.includes(this.cursor)||(this.cursor=null),this.meant&&!t.
ranks[this.meant.level]?.includes(this.meant)&&this.mean(null),this.settled=!1,this.follows&&this.fit(),this.request()}leave(){this.watch.disconnect(),this.ended(),this.gone=!0}get size(){return[this.
canvas.clientWidth,this.canvas.clientHeight]}at(t){return[this.view.left+t.goal*this.view.kx,this.view.top+t.level*this.view.ky]}get widest(){return this.scene.ranks.reduce((t,e)=>Math.max(t,e.length),
1)}fit(){let[t,e]=this.size,[s,i,n,r]=ei,l=n+(t<si?ii:0),h=Math.max(this.scene.ranks.length-1,1),c=Math.max(10,Math.min(t-s-i,this.widest*et[0])),u=Math.max(1,Math.min((e-l-r)/h,et[1]));this.base=[c,u],
this.follows=!0,this.view={zoom:1,kx:c,ky:u,left:s+(t-s-i-c)/2,top:l},this.request()}enlarge(t,[e,s]=this.size.map(i=>i/2)){let{view:i,base:n,widest:r}=this,l=Math.min(Math.max(i.zoom*t,.5),Math.max(2,
r*et[0]*2/n[0])),h=Math.min(n[0]*l,Math.max(n[0],r*et[0])),c=Math.min(n[1]*l,Math.max(n[1],et[1]));this.view={zoom:l,kx:h,ky:c,left:e-(e-i.left)*h/i.kx,top:s-(s-i.top)*c/i.ky},this.moved()}pan(t,e){this.
view.left+=t,this.view.top+=e,this.moved()}moved(){let{view:t}=this,[e,s]=this.size,i=t.ky*Math.max(this.scene.ranks.length-1,0);t.left=Math.min(Math.max(t.left,st-t.kx),e-st),t.top=Math.min(Math.max(
t.top,st-i),s-st),this.follows=!1,this.moving=!0,clearTimeout(this.rest),this.rest=setTimeout(()=>{this.moving=!1,this.request()},ri),this.request()}reveal(t){let[e,s]=this.size,[i,n]=this.at(t),r=Math.
max(0,50-i)-Math.max(0,i-e+50),l=Math.max(0,36-n)-Math.max(0,n-s+36);(r||l)&&this.pan(r,l)}near([t,e]){let{ranks:s}=this.scene,{left:i,top:n,kx:r,ky:l}=this.view,h=Math.round((e-n)/l),c=null;for(let u of[
h,h-1,h+1]){let p=s[u]??[],f=xt(p,(t-i)/r);for(let g of p.slice(Math.max(0,f-2),f+2)){let[E,A]=this.at(g),M=Math.max(ni,this.scene.radius(g,Math.min(r/p.length,l))+4),k=Math.hypot(E-t,A-e);k<M&&(c===null||
k<c.far)&&(c={node:g,far:k})}}return c?.node??null}resized(){let[t,e]=this.size,s=devicePixelRatio||1;this.canvas.width=Math.round(t*s),this.canvas.height=Math.round(e*s),this.follows&&this.fit(),this.
asked?this.frame(performance.now()):this.request()}request(){this.asked||this.gone||(this.asked=requestAnimationFrame(t=>this.frame(t)))}frame(t){this.asked&&cancelAnimationFrame(this.asked),this.asked=
null;let[e,s]=this.size;if(e===0||s===0)return;this.ease(t),this.colours??=Object.fromEntries(is.map((h,c)=>[h,getComputedStyle(this.probes.children[c]).color]));let i=this.canvas.getContext("2d"),n=devicePixelRatio||
1;i.setTransform(n,0,0,n,0,0);let r=(...h)=>h.filter(Boolean),l=[["quiet",1.5,r(this.scene.ranks[0]?.[0])],["again",2,this.alike],["chosen",2.5,r(this.chosen)],["text",2,r(this.meant??(document.activeElement===
this.canvas?this.cursor:null))]];this.drawn=ss(i,this.scene,this.view,[e,s],{moving:this.moving||!this.settled,settled:this.settled,colours:this.colours,rings:l}),this.frames+=1,this.settled||this.request()}ease(t){
let e=matchMedia("(prefers-reduced-motion: reduce)").matches,s=Math.min(t-(this.before??t),100);if(this.before=this.settled?null:t,this.settled)return;let i=e?1:1-Math.exp(-s/oi),n=0;for(let r of this.
scene.ranks)for(let l of r)l.x+=(l.goal-l.x)*i,n=Math.max(n,Math.abs(l.goal-l.x));if(!(n*this.view.kx>.4)){for(let r of this.scene.ranks)for(let l of r)l.x=l.goal;this.settled=!0,this.before=null}}listen(){
let{canvas:t}=this,e=({clientX:s,clientY:i})=>{let n=t.getBoundingClientRect();return[s-n.left,i-n.top]};t.addEventListener("wheel",s=>{s.preventDefault();let i=[1,16,200][s.deltaMode]??1;this.enlarge(
Math.exp(-s.deltaY*i*(s.ctrlKey?.01:.0016)),e(s))},{passive:!1}),t.addEventListener("pointerdown",s=>{t.setPointerCapture(s.pointerId),this.pointers.set(s.pointerId,e(s)),this.drags=this.pointers.size>
1}),t.addEventListener("pointermove",s=>this.dragged(s.pointerId,e(s),s.pointerType));for(let s of["pointerup","pointercancel"])t.addEventListener(s,i=>{let n=this.pointers.delete(i.pointerId);if(s===
"pointercancel"||!n||this.drags)return;let r=this.near(e(i));this.cursor=r??this.cursor,this.listener.onPick(r)});t.addEventListener("pointerleave",()=>this.mean(null)),t.addEventListener("focus",()=>{
this.cursor??=this.chosen??this.scene.ranks[0]?.[0]??null,this.request()}),t.addEventListener("blur",()=>this.mean(null)),t.addEventListener("keydown",s=>{s.ctrlKey||s.metaKey||s.altKey||this.key(s)&&
(s.preventDefault(),s.stopPropagation())})}dragged(t,e,s){let i=this.pointers.get(t);if(!i){s!=="touch"&&this.mean(this.near(e));return}let[n,r]=[e[0]-i[0],e[1]-i[1]];if(this.pointers.size===1){if(!this.
drags&&Math.hypot(n,r)<4)return;this.drags=!0,this.mean(null),this.pan(n,r)}else{let[l]=[...this.pointers].find(([c])=>c!==t).slice(1),h=c=>Math.hypot(c[0]-l[0],c[1]-l[1]);this.pan(n/2,r/2),h(i)>10&&this.
enlarge(h(e)/h(i),[(e[0]+l[0])/2,(e[1]+l[1])/2])}this.pointers.set(t,e)}key({key:t,shiftKey:e}){if(t==="+"||t==="=")this.enlarge(1.5);else if(t==="-")this.enlarge(1/1.5);else if(t==="0")this.fit();else if(ae[t]&&
e)this.pan(...ae[t].map(s=>-s*st));else if(ae[t])this.walk(t);else if((t==="Enter"||t===" ")&&this.cursor)this.listener.onPick(this.cursor);else if(t==="Escape"&&(this.chosen||this.meant))this.mean(null),
this.listener.onPick(null);else return!1;return!0}walk(t){let{ranks:e}=this.scene,s=this.cursor??e[0]?.[0];if(!s)return;let i=e[s.level],n=i.indexOf(s),r=h=>h.reduce((c,u)=>c===null||Math.abs(u.goal-s.
goal)<Math.abs(c.goal-s.goal)?u:c,null),l=t==="ArrowLeft"?i[n-1]:t==="ArrowRight"?i[n+1]:r(t==="ArrowUp"?s.in.filter(h=>!h.repeats).map(h=>h.from):s.out.filter(h=>!h.repeats).map(h=>h.to));this.cursor=
l??s,this.reveal(this.cursor),this.mean(this.cursor),this.description.textContent=this.listener.description(this.cursor)}mean(t){if(this.meant!==t){if(this.meant=t,this.alike=t?this.listener.alike?.(t)??
[]:[],this.canvas.style.cursor=t?"pointer":"",this.tip.hidden=!t,t){d(this.tip,this.listener.tooltip(t));let[e,s]=this.at(t),[i,n]=this.size;this.tip.style.left=`${Math.max(4,Math.min(e+14,i-this.tip.
offsetWidth-4))}px`,this.tip.style.top=s+14+this.tip.offsetHeight<n?`${s+14}px`:`${Math.max(4,s-14-this.tip.offsetHeight)}px`}this.listener.onHover?.(t),this.request()}}};var li=[["stripped","ignoring step counters","Merge positions that differ only in step counters"],["state","exactly equal","Merge positions with equal facts"],["tree","never","Show each path separatel\
y"]],le={open:"expanded",fresh:"not expanded",solved:"solved",end:"an ending that is not a solution",lost:"hopeless: no path leads from here to a solution"},ns=2e4,he=6,hi=a=>Math.round(a/10),ci={nodes:new Set,
arcs:new Set},$t=class{constructor(t,{here:e,onGo:s}){Object.assign(this,{game:t,here:e,onGo:s}),this.merge=o("select",{"aria-label":"Merge positions"},li.map(([n,r,l])=>o("option",{value:n,title:l},r))),
this.depth=o("input",{type:"number",min:"1",max:"10000",placeholder:"any","aria-label":"Maximum number of moves from here"}),this.most=o("input",{type:"number",min:"1",max:String(ns),value:"2000","ari\
a-label":"Maximum number of positions"});let i=t.roles.map(({name:n,random:r},l)=>({name:n,random:r,value:l})).filter(({random:n})=>!n);this.role=o("select",{"aria-label":"Role whose score counts"},i.
map(({name:n,value:r})=>o("option",{value:r},n))),this.control=m("Explore",()=>this.stop?this.stop.abort():this.start(),{class:"strong"}),this.repeats=this.check("Repeated positions",!0),this.fades=this.
check("Fade dead ends",!0),this.trouble=b(),this.state=o("p",{class:"quiet","aria-live":"polite"}),this.sheet=new H("Graph of positions and moves",{onPick:n=>this.pick(n),tooltip:n=>this.tooltip(n),description:n=>this.
description(n),alike:n=>this.merge.value==="state"?this.found.alike.get(n.same).filter(r=>r!==n):[]}),this.glance=new vt(t,{onGo:n=>this.go(n),onClose:()=>{this.pick(null),this.sheet.canvas.focus()}}),
this.counts=o("tbody"),this.numbers=o("details",{class:"unfold",hidden:!0},o("summary",{},"Positions by level"),o("table",{class:"counts"},o("thead",{},o("tr",{},["Level","Positions","Solved","Other e\
ndings","Outgoing moves"].map(n=>o("th",{scope:"col"},n)))),this.counts)),this.legend=o("p",{class:"legend",hidden:!0},[["open","position"],["fresh","not expanded"],["solved","solved"],["end","other e\
nding"],["lost","hopeless"]].map(([n,r])=>o("span",{},q(n),r)),o("span",{},o("span",{class:"stroke lit"}),"shortest paths"),o("span",{},o("span",{class:"stroke again"}),"to an earlier position")),this.
values=o("p",{class:"legend",hidden:!0},[0,5,10].map(n=>o("span",{},q("open",`value-${n}`),String(10*n))),o("span",{},q("open"),"endless, or by chance")),this.element=o("div",{class:"graph"},o("p",{class:"\
quiet"},"The positions that can be reached from this one, and the moves between them."),o("div",{class:"line-of"},this.control,o("label",{},"Merge positions: ",this.merge),o("label",{class:"seconds"},
"Depth ",this.depth),o("label",{class:"seconds"},"At most ",this.most),i.length>1&&o("label",{},"For ",this.role),this.large),this.trouble,this.state,o("div",{class:"graph-body"},this.sheet.element,this.
glance.element),o("div",{class:"line-of"},this.repeats.label,this.fades.label),this.legend,this.values,this.numbers),this.numbers.addEventListener("toggle",()=>this.showCounts()),this.sheet.spreads(this.
element),this.clear()}check(t,e){let s=o("input",{type:"checkbox",checked:e});return s.addEventListener("change",()=>this.show()),{field:s,label:o("label",{class:"check"},s,t)}}clear(){this.found=new wt,
this.layers=new bt,this.values.hidden=!0,this.waiting=[],this.best=ci,this.pick(null)}async start(){this.clear(),this.from=this.here();let t=new AbortController;this.stop=t,this.control.textContent="S\
top",this.trouble.say(""),this.numbers.hidden=this.legend.hidden=!1;let e=Math.min(Math.max(Math.round(Number(this.most.value))||2e3,1),ns),s={moves:this.from.moves(),merge:this.merge.value,most:e,role:Number(
this.role.value)||0};Number(this.depth.value)>=1&&(s.depth=Math.round(Number(this.depth.value)));try{for await(let[i,n]of this.game.events("graph",s,t.signal)){if(i==="failed")throw new Error(n.message);
i==="grown"&&this.grown(n),i==="graph"&&this.ended(n)}}catch(i){i.name==="AbortError"?this.state.textContent=`${this.summary()}; stopped.`:this.trouble.say(i.message)}finally{this.stop===t&&(this.stop=
null),this.control.textContent="Explore",this.element.dataset.nodes=this.found.nodes.length,this.place()}}grown(t){this.waiting.push(...this.found.grow(t)),this.values.hidden&&=!t.nodes.some(({value:e})=>e),
this.state.textContent=`${this.summary()} \u2026`,this.soon??=requestAnimationFrame(()=>this.place())}ended(t){this.found.end(t),this.state.textContent=`${this.summary()}, ${t.seconds.toFixed(1)} s${t.
said?`: ${t.said}`:""}.`}summary(){let{nodes:t,arcs:e,levels:s}=this.found;return`${this.from.ply>0?`After ${y(this.from.ply,"move")}: `:""}${y(t.length,"position")}, ${y(e.length,"move")}, ${y(s.length,
"level")}`}place(){cancelAnimationFrame(this.soon),this.soon=null,this.layers.add(this.waiting),this.waiting=[],this.best=this.found.pathsTo(this.found.nearest()),(this.numbers.open||!this.stop)&&this.
showCounts(),this.show()}show(){let{found:t,layers:e,chosen:s}=this,i=this.fades.field.checked;this.sheet.chosen=s,this.sheet.show({ranks:e.ranks,arcs:t.arcs,repeats:this.repeats.field.checked,lit:s?t.
pathsTo([s]):this.best,kind:n=>t.kind(n),look:(n,r)=>n.value&&n.value.least===n.value.most?`value-${hi(n.value.least)}`:r,isFaint:n=>i&&n.lost,radius:(n,r)=>Math.min(Math.max(.36*r,.8),7.5),words:n=>n.
id>0?n.in[0]?.move??"":""})}showCounts(){let t=this.found.levels.map((e,s)=>({level:s,count:e,solved:0,ends:0,moves:0}));for(let{level:e,status:s,out:i}of this.found.nodes){let n=t[e];s==="solved"&&(n.
solved+=1),s==="dead"&&(n.ends+=1),n.moves+=i.length}d(this.counts,t.map(({level:e,count:s,solved:i,ends:n,moves:r})=>o("tr",{},o("th",{scope:"row"},String(e)),[s,i,n,r].map(l=>o("td",{},l.toLocaleString(
"en"))))))}tooltip(t){let{in:e,out:s}=t,i=e.slice(0,he).map(({from:n,move:r})=>o("div",{},o("code",{},r),o("span",{class:"quiet"},` from ${n.id}`)));return[o("strong",{},`Position ${t.id}, level ${t.level}`),
o("div",{},le[this.found.kind(t)]),o("div",{},this.value(t)),...i,e.length>he&&o("div",{class:"quiet"},`${e.length-he} more incoming moves`),o("div",{class:"quiet"},`${y(s.length,"outgoing move")}`)]}description(t){
return`Position ${t.id}, level ${t.level}, ${le[this.found.kind(t)]}, ${t.value?`${this.value(t)}, `:""}${t.in[0]?`by ${t.in[0].move}, `:""}${y(t.out.length,"outgoing move")}.`}value({value:t}){if(!t)
return"";let{least:e,most:s,distance:i}=t,n=e===s?String(e):`${e} to ${s}`;return`${this.game.roles[Number(this.role.value)||0].name} gets ${n}${i?` in ${y(i,"joint move")}`:""}`}pick(t){this.chosen=t,
this.sheet.mean(null),this.glance&&(t?this.glance.show(t,[...this.from.moves(),...this.found.path(t)],`Position ${t.id}`,this.lines(t)):this.glance.close()),this.show()}lines(t){let e=this.found.countPaths(
t),s=this.found.alike.get(t.same).length-1;return[`Level ${t.level}: ${le[this.found.kind(t)]}.`,t.value&&`${this.value(t)}.`,t.id>0&&`${y(e,"path")} of ${y(t.level,"move")} to this position; ${y(t.out.
length,"outgoing move")}.`,s>0&&`${y(s,"other position")} differ${s===1?"s":""} from it only in step counters.`].filter(Boolean)}go(t){this.sheet.large(!1),this.onGo(this.from,this.found.path(t))}leave(){
this.stop?.abort(),this.sheet.leave(),this.glance.leave()}};var P=class{constructor(t,e){this.parent=t,this.joint=e,this.ply=t?t.ply+1:0,this.children=[],this.next=null,this.position=null,this.values=new Map,this.learned=null,this.time=Date.now()}path(){let t=[];
for(let e=this;e;e=e.parent)t.push(e);return t.reverse()}moves(){return this.path().slice(1).map(t=>t.joint)}},St=class{constructor(){this.root=new P(null,null),this.here=this.root}child(t,e){let s=e.
join(" "),i=t.children.find(n=>n.joint.join(" ")===s);return i||(i=new P(t,e),t.children.push(i)),t.next=i,i}graft(t,e){return e.reduce((s,i)=>this.child(s,i),t)}goto(t){for(let e=t;e.parent;e=e.parent)
e.parent.next=e;this.here=t}line(){let t=this.here.path();for(let e=this.here.next;e;e=e.next)t.push(e);return t}ahead(){return this.line().slice(this.here.ply+1).map(t=>t.joint)}};function ui(a,{line:t,bytes:e}){if(!e)return[t,t];let s=new TextDecoder().decode(new TextEncoder().encode(a).subarray(e[0],e[1]));return[t,t+s.trimEnd().split(`
`).length-1]}var Et=class{constructor(t){this.files=t,this.at=0,this.tabs=o("div",{class:"files"}),this.text=o("div",{class:"source",tabindex:"0",role:"region","aria-label":"Rules"}),this.element=o("d\
iv",{class:"source-box"},this.tabs,this.text),this.open(0)}open(t){this.at=t,d(this.tabs,this.files.map(({name:e},s)=>{let i=o("button",{type:"button",class:"file","aria-pressed":String(s===t)},e);return i.
addEventListener("click",()=>this.open(s)),i})),this.lines=this.files[t].text.split(`
`).map(e=>o("div",{class:e.trimStart().startsWith(";")?"line comment":"line"},e||" ")),d(this.text,this.lines),this.lit=[]}unlit(){for(let t of this.lit)t.classList.remove("lit");this.lit=[]}show(t){let e=this.
files.findIndex(({name:p})=>p===t.file),s=e>=0?e:Math.max(0,this.files.findIndex(({name:p})=>t.file.endsWith(`/${p}`)||p.endsWith(`/${t.file}`)));s!==this.at&&this.open(s),this.unlit();let[i,n]=ui(this.
files[s].text,t);this.lit=this.lines.slice(i-1,n);for(let p of this.lit)p.classList.add("lit");let r=this.lit[0];if(!r)return;let l=r.offsetTop,h=this.lit[this.lit.length-1].offsetTop+r.offsetHeight,{
scrollTop:c,clientHeight:u}=this.text;(l<c||h>c+u)&&(this.text.scrollTop=Math.max(0,l-u/3))}};var it={holds:["\u2713","holds"],fails:["\u2717","does not hold"],open:["\u25E6","depends on a condition that does not hold"],group:["",""]},di=3,Mt=class{constructor(t,e,s){this.game=t,this.position=
e,this.onOpen=s,this.question=o("input",{type:"text",class:"question",spellcheck:"false",autocapitalize:"off",autocomplete:"off",placeholder:"(legal ROLE MOVE), (goal ROLE ?value), terminal \u2026","a\
ria-label":"A fact or relation to ask about"}),this.trouble=b(),this.answer=o("div",{class:"answer","aria-live":"polite"}),this.source=new Et(t.files);let i=o("form",{class:"ask",on:{submit:n=>{n.preventDefault(),
this.ask(this.question.value)}}},o("label",{},"Why ",this.question),o("button",{type:"submit"},"Ask"));this.element=o("section",{class:"why-drawer","aria-label":"Why",hidden:!0},o("div",{class:"why-he\
ad"},i,m(C("close"),()=>this.close(),{class:"plain","aria-label":"Close"})),this.trouble,o("div",{class:"why-body"},this.answer,this.source.element)),this.element.addEventListener("keydown",n=>{n.key===
"Escape"&&this.close()}),this.answer.addEventListener("click",n=>this.point(n)),this.answer.addEventListener("pointerover",n=>this.point(n)),this.answer.addEventListener("focusin",n=>this.point(n))}open(){
this.element.hidden&&(this.element.hidden=!1,document.body.classList.add("asking"),this.onOpen()),this.answer.hasChildNodes()||d(this.answer,o("p",{class:"quiet"},"Ask why something holds in this posi\
tion, or why it does not: a fact, a legal move, a goal, or any relation of the rules. Variables such as ?x are allowed.")),this.question.focus({preventScroll:!0})}close(){this.element.hidden=!0,document.
body.classList.remove("asking"),this.back?.focus?.({preventScroll:!0})}async ask(t,e=!1){if(this.element.hidden&&(this.back=document.activeElement),this.open(),this.question.value=t,this.trouble.say(""),
!!t.trim()){this.stop?.abort(),this.stop=new AbortController;try{let s={moves:this.position(),question:t.trim(),history:e},{holds:i,has_history:n,trees:r,text:l}=await this.game.ask("why",s,this.stop.
signal);this.places=[],d(this.answer,r.length>0?r.map(c=>this.branch(c,0)):o("pre",{},l||(i?"It is true.":"It is not true."))),n&&this.answer.prepend(o("p",{},m(e?"In this position only":"Over the mat\
ch",()=>this.ask(t,!e),{class:"small"})));let h=this.places[0];h&&this.source.show(h)}catch(s){if(s.name==="AbortError")return;this.places=[],d(this.answer),this.source.unlit(),this.trouble.say(s.message)}}}branch(t,e){
let s=this.line(t);return t.because.length===0&&!t.omitted?o("div",{class:"leaf"},s):o("details",{open:e<di},o("summary",{},s),t.because.map(i=>this.branch(i,e+1)),t.omitted>0&&o("p",{class:"quiet lea\
f"},`${t.omitted} more`))}line({mark:t,text:e,note:s,place:i,bindings:n,always:r}){let[l,h]=it[t]??it.group,c=i?this.places.push(i)-1:null,u=n.map(([p,f])=>`${p} = ${f}`).join(", ");return o("span",{class:`\
why-line ${t}`,"data-place":c},l&&o("span",{class:"sign","aria-label":h},`${l} `),e&&o("code",{},e)," ",o("span",{class:"quiet"},s,i&&" ",i&&o("a",{href:"#",class:"place"},`${i.file.split("/").pop()}:${i.
line}`),u&&` with ${u}`,r&&t==="holds"&&!i&&" always"))}point(t){let e=t.target.closest("[data-place]");t.type==="click"&&t.target.closest(".place")&&t.preventDefault(),e&&this.source.show(this.places[Number(
e.dataset.place)])}};var pi=300,ce=2,ue=7,mi=3,fi=200,Tt=class{constructor(t,e){this.game=t,this.here=e,this.element=o("div",{class:"why-tip",role:"tooltip",id:"why-tip",hidden:!0}),this.answers=new Map,this.place=[-ce,-ce],
this.stop=new AbortController}listen(t){let e=s=>{if(s.pointerType==="touch")return;if(s.type==="pointerover"){let[n,r]=this.place;if(Math.hypot(s.clientX-n,s.clientY-r)<ce)return;this.place=[s.clientX,
s.clientY]}let i=s.target.closest?.("[data-why]")??null;i!==this.about&&this.mean(i,s.target)};t.addEventListener("pointerover",e),t.addEventListener("focusin",s=>s.target.matches(":focus-visible")&&e(
s)),t.addEventListener("pointerleave",()=>this.hide()),t.addEventListener("focusout",()=>this.hide()),t.addEventListener("click",s=>{this.place=[s.clientX,s.clientY],this.hide()}),t.addEventListener("\
scroll",()=>this.element.hidden||this.hide(),!0),t.addEventListener("keydown",s=>{s.key==="Escape"&&this.hide()})}mean(t,e){this.hide(),t&&(this.about=t,this.described=e,this.timer=setTimeout(()=>this.
ask(),pi))}hide(){clearTimeout(this.timer),this.element.hidden=!0,this.described?.removeAttribute("aria-describedby"),this.about=this.described=null}async ask(){if(!this.asks){this.asks=!0;try{for(;this.
about;){let t=this.here();(this.node!==t||this.answers.size>fi)&&this.answers.clear(),this.node=t;let{about:e}=this,s=e.dataset.why;if(this.answers.has(s)||this.answers.set(s,await this.game.ask("why",
{moves:t.moves(),question:s},this.stop.signal).catch(i=>{if(i.name==="AbortError")throw i;return{trees:[],text:i.message}})),this.about===e&&this.here()===t){this.show(e,this.answers.get(s));return}}}catch(t){
if(t.name!=="AbortError")throw t}finally{this.asks=!1}}}show(t,{holds:e,trees:s,text:i}){let n=[];for(let f of s)this.lines(f,0,n);d(this.element,n.slice(0,ue),n.length>ue&&o("div",{class:"quiet"},"\u2026 \
(\u201Cwhy?\u201D shows everything)"),n.length===0&&o("div",{},i?.split(`
`)[0]||(e?"It is true.":"It is not true."))),this.element.hidden=!1,this.described.setAttribute("aria-describedby","why-tip");let r=t.getBoundingClientRect(),{offsetWidth:l,offsetHeight:h}=this.element,
c=document.documentElement.clientWidth,u=r.right+8+l<c,p=u?Math.min(r.top,innerHeight-h-6):r.bottom+6+h<innerHeight?r.bottom+6:r.top-6-h;this.element.style.left=`${Math.max(6,u?r.right+8:Math.min(r.left,
c-l-6))}px`,this.element.style.top=`${Math.max(6,p)}px`}lines({mark:t,text:e,note:s,place:i,because:n},r,l){if(l.length>ue)return;let[h,c]=it[t]??it.group;if(l.push(o("div",{class:`why-line ${t} in-${r}`},
h&&o("span",{class:"sign","aria-label":c},`${h} `),e&&o("code",{},e),s&&o("span",{class:"quiet"},` ${s}${i?` ${i.file.split("/").pop()}:${i.line}`:""}`))),r<mi)for(let u of n)this.lines(u,r+1,l)}leave(){
this.stop.abort(),this.hide()}};var gi=[3,10,60],yi=5,wi=300,os="Programs play the game against themselves, and learn what each position is worth and which facts count.",At=class{constructor(t,{line:e,here:s,onValues:i}){Object.assign(
this,{game:t,line:e,here:s,onValues:i}),this.known=void 0,this.learn=m("Learn values",()=>this.stop?this.stop.abort():this.start(),{class:"small"}),this.time=o("select",{"aria-label":"Time to learn"},
gi.map(n=>o("option",{value:n,selected:n===10},`${n} s`))),this.said=o("p",{class:"quiet","aria-live":"polite"}),this.trouble=b(),this.panel=o("div",{}),this.element=o("div",{class:"thought learned"},
o("h3",{},"Learned values"),o("p",{},this.learn," for ",this.time),this.said,this.trouble,this.panel),this.say(os)}say(t){d(this.said,t,this.stop&&o("span",{class:"spinner","aria-hidden":"true"})),this.
learn.textContent=this.stop?"Stop":this.known?"Learn again":"Learn values"}async start(){let{signal:t}=this.stop=new AbortController;this.known??=null,this.trouble.say(""),this.say("Learning \u2026");
let e=null;try{for await(let[i,n]of this.game.events("learn",{seconds:Number(this.time.value)},t)){if(i==="failed")throw new Error(n.message);i==="learned"?this.known=n:this.say(`Learning: ${y(n.games,
"game")} so far \u2026`)}}catch(i){i.name!=="AbortError"&&(e=i)}if(this.stop=null,this.gone)return;e&&this.trouble.say(e.message);let s="Nothing was learned.";if(!t.aborted){await this.ask(s);return}this.
say("Stopping \u2026"),await this.ask("Stopping \u2026"),await rs(),!this.gone&&!this.stop&&await this.ask(s)}async follow(){if(this.wanted=!0,!this.following){for(this.following=!0;this.wanted&&this.
known!==null&&!this.gone;)this.wanted=!1,await this.ask(),await rs();this.following=!1}}async ask(t=os){this.asking?.abort();let e=new AbortController;this.asking=e;let s=this.line(),i=this.here();try{
let n=await this.game.ask("values",{moves:s[s.length-1].moves(),at:i.ply},e.signal);if(this.gone||this.asking!==e)return;let r=this.known;this.known=n.learned,s.forEach((l,h)=>{l.learned=n.values[h]??
null}),this.stop||this.say(this.known?`From ${y(this.known.games,"game")} of self-play.`:r?"The server has forgotten the values. Learn them again.":t),this.show(n,i.learned),this.onValues()}catch(n){n.
name!=="AbortError"&&this.asking===e&&this.known!==void 0&&this.trouble.say(n.message)}}show({facts:t},e){if(!this.known){d(this.panel);return}if(!e){d(this.panel,o("p",{class:"quiet"},"This position \
has no learned value."));return}let s=Math.max(...t.flatMap(({weights:n})=>n.map(Math.abs)),1e-6),i=this.game.roles.map(({name:n,random:r},l)=>({name:n,random:r,role:l})).filter(({random:n})=>!n);d(this.
panel,o("h4",{},"Facts that speak for each role"),i.map(({name:n,role:r})=>{let l=t.filter(({weights:h})=>h[r]>0).sort((h,c)=>c.weights[r]-h.weights[r]).slice(0,yi);return o("table",{class:"candidates\
 speaks"},o("thead",{},o("tr",{},o("th",{scope:"colgroup",colspan:2},o("span",{class:`dot r${r%8}`}),` ${n}, expected score ${e[r].toFixed(1)}`))),o("tbody",{},l.length>0?l.map(({fact:h,weights:c})=>vi(
h,c[r],s,r)):o("tr",{},o("td",{class:"quiet",colspan:2},"no single fact"))))}),o("p",{class:"quiet"},"The numbers are logarithms of odds: +0.7 doubles the odds of winning."))}leave(){this.gone=!0,this.
stop?.abort(),this.asking?.abort()}};function rs(){return new Promise(a=>{setTimeout(a,wi)})}function vi(a,t,e,s){let i=o("span",{class:"bar"},o("span",{class:`r${s%8}`}));return i.firstChild.style.width=
`${(100*t/e).toFixed(1)}%`,o("tr",{},o("td",{},o("code",{},a)),o("td",{},i,o("span",{class:"number"},`+${t.toFixed(2)}`)))}var as=a=>a.replaceAll("(","( ").replaceAll(")"," )"),de=a=>a.map(({text:t})=>t).join(`
`);function ls(a,t,e){let[s]=e,{over:i,goals:n,faults:r}=e[e.length-1].position,l=i&&r.length===0;return`${JSON.stringify({matchId:`ggp.${a.name.replaceAll(/[^a-z0-9]/gi,"_")}.${s.time}`,randomToken:[
...crypto.getRandomValues(new Uint8Array(16))].map(h=>h.toString(16).padStart(2,"0")).join(""),startTime:s.time,isCompleted:l,isAborted:r.length>0,states:e.map(({position:h})=>`( ${h.facts.map(as).sort().
join(" ")} )`),moves:e.slice(1).map(({joint:h})=>h.map(as)),stateTimes:e.map(({time:h})=>h),errors:e.map(()=>a.roles.map(()=>"")),...l&&{goalValues:n},previewClock:-1,startClock:0,playClock:0,playerNamesFromHost:t.
map(h=>h===v?"human":h),isPlayerHuman:t.map(h=>h===v),tournamentNameFromHost:"",scrambled:!1,rulesheet:de(a.rules.files),game:a.bundled?a.id:a.name,...!a.bundled&&a.rules.picture&&{picture:a.rules.picture}})}\

`}function pe({game:a,rules:t},e){return t?de(t.files)===de(e.rules.files):a===null||a===e.id||a===e.name}async function Ct(a){let t=(await at()).find(({id:s,name:i})=>s===a.game||i===a.game),e=t&&await O.
named(t.id);return e&&pe(a,e)?e:a.rules&&O.loaded(a.rules)}function Lt(a){let t;try{t=JSON.parse(a)}catch{throw new Error("This is not a match record: it is not JSON.")}if(!Array.isArray(t?.moves))throw new Error(
"This is not a match record: it has no list \u201Cmoves\u201D.");let e=t.moves.map((l,h)=>{if(!Array.isArray(l))throw new Error(`Move ${h+1} of the record is not a list.`);return l.map(je)}),s=typeof t.
matchId=="string"?t.matchId.split(".").slice(1,-1).join("."):null,i=typeof t.game=="string"?t.game:s||null,n=typeof t.picture=="string"?t.picture:null,r=Array.isArray(t.rules?.files)?t.rules:typeof t.
rulesheet=="string"?{files:[{name:`${i??"match"}.kif`,text:t.rulesheet}],picture:n}:null;return{game:i,moves:e,rules:r}}var bi=1500;async function hs(a,t,e){let{table:s,keys:i}=await S("/api/tables",{game:a.id,moves:t,seats:e}),n=a.bundled||!a.path.startsWith("rules=")?"":`&${a.path}`;return i.map((r,l)=>r===null?null:
`${location.origin}${location.pathname}#/table/${encodeURIComponent(s)}?key=${encodeURIComponent(r)}&seat=${l}${n}`)}async function me(a,t){try{await S(`/api/tables/${encodeURIComponent(a)}/moves`,{key:t,
ply:2**32,move:""})}catch(e){if(e.status===403)return!1;if(e.status!==409)throw e}return!0}function cs({table:a,words:t,refused:e}){let s=o("input",{type:"text","aria-label":"Invitation: the link or i\
ts key",placeholder:"link or key",spellcheck:"false",autocomplete:"off"}),i=b();e&&i.say("The key in this address does not belong to a seat at this table.");let n=async r=>{r.preventDefault();let l=s.
value.trim(),h=l.includes("#")?ht(l.slice(l.indexOf("#"))):{table:a,key:l,seat:null};i.say("");try{if(!h.key||!h.table)throw new Error("This is neither an invitation link nor a key.");if(!await me(h.table,
h.key))throw new Error("This key does not belong to a seat at this table.");let c=[h.seat===null?"":`&seat=${h.seat}`,t.rules?`&rules=${t.rules}`:""].join("");location.hash=`#/table/${encodeURIComponent(
h.table)}?key=${encodeURIComponent(h.key)}${c}`}catch(c){i.say(c.message)}};return o("section",{class:"panel joining","aria-label":"Take a seat"},o("p",{class:"quiet"},"You are watching. Have an invit\
ation? Paste it here."),o("form",{class:"invited",on:{submit:n}},s,o("button",{type:"submit"},"Take a seat")),i)}async function us(a){let t=new AbortController;try{for await(let[,e]of Y(`/api/tables/${encodeURIComponent(
a)}`,void 0,t.signal))return e;throw new Error("The table sent no state.")}finally{t.abort()}}async function*ds(a,t,e){for(;!t.aborted;){try{for await(let[s,i]of Y(`/api/tables/${encodeURIComponent(a)}`,
void 0,t))if(e(""),s==="table"&&(yield i),i.over)return}catch(s){if(s.name==="AbortError")return;if(s.status>=400&&s.status<500&&s.status!==429)throw s;e(s.message)}await new Promise(s=>{setTimeout(s,
bi)})}}var Ot=class{constructor(t,e,{table:s,key:i,seat:n},r){Object.assign(this,{game:t,history:e,table:s,key:i,seat:n,listener:r}),this.branches=!1,this.paused=!1,this.waits=!1,this.secret=!1,this.thinking=
new Map,this.seats=t.roles.map(()=>v),this.end=e.root,this.chosen=t.roles.map(()=>!1),this.mine=null}changed({seats:t,moves:e,chosen:s,failed:i}){this.seats=t,this.chosen=s,this.failed=i??null;let n=this.
history.graft(this.history.root,e);return n!==this.end&&(this.mine=null),this.end=n,n}depart(){this.node=null}arrive(t){this.node=t;let e=t.position.legal[this.seat??-1]??[];e.length===1&&this.stateOf(
this.seat)==="single"&&t===this.end&&!this.chosen[this.seat]&&this.send(e[0].move).catch(()=>{}),this.listener.onChange()}stateOf(t){if(!this.node||x(this.node.position)||this.node!==this.end)return"o\
thers";let{turn:e}=this.node.position;return e.includes(t)?this.chosen[t]?"chosen":this.key&&(this.seat===null?this.seats[t]===v:t===this.seat)?this.mine?"chosen":"open":"others":"single"}async choose(t,e){
this.mine=e,this.listener.onChange();try{await this.send(e),this.seat??=t}catch(s){this.mine=null,this.listener.onTrouble(s.message),this.listener.onChange()}}send(t){return S(`/api/tables/${encodeURIComponent(
this.table)}/moves`,{key:this.key,ply:this.end.ply,move:t})}back(){}pause(){}stop(){}};var Rt=class{constructor(t){this.view=t;let e=m("Copy link",()=>{t.atTable||t.address();let{origin:i,pathname:n}=location;!t.game.bundled&&!t.game.path.startsWith("rules=")?t.trouble.say("These rules \
are too long for a link. Save the match instead; the file contains the rules."):Jt(`${i}${n}${L(t.game.path,{moves:t.history.here.moves()})}`,e)},{title:"A link that shows this position"}),s=o("input",
{type:"file",accept:".json",hidden:!0});s.addEventListener("change",async()=>{s.files[0]&&await this.load(s.files[0]),s.value=""}),this.invite=m("Invite",()=>this.lay(),{title:"Play with others, each \
in their own browser"}),this.element=o("div",{class:"sharing"},e,m("Save",()=>this.save(),{title:"Save the match as a file"}),!t.atTable&&m("Load",()=>s.click(),{title:"Load a match record"}),s,!t.atTable&&
this.invite,m("Rules & explanations",()=>t.why.open(),{title:"Read the rules, and ask why something is true or not"}),m("Edit rules",()=>t.onEdit?.(structuredClone({files:t.game.files,picture:t.game.picture??
null})),{title:"Edit these rules as your own"})),this.invitation=o("section",{class:"panel invitation",hidden:!0,"aria-label":"Invitation"})}async save(){let{game:t,history:e,match:s}=this.view,i=e.line();
try{for(let n of i)await this.view.load(n);Re(`${t.name}.json`,ls(t,s.seats,i),"application/json")}catch(n){this.view.trouble.say(n.message)}}async load(t){let{view:e}=this;try{let s=Lt(await F(t)),{moves:i}=s,
n=pe(s,e.game)?null:await Ct(s);if(n){location.hash=L(n.path,{moves:i});return}let r=e.history.graft(e.history.root,i);await e.go(r)}catch(s){e.trouble.say(s.message)}}async lay(){let{view:t}=this;try{
await t.load(t.history.here);let e=await hs(t.game,t.history.here.moves(),t.match.seats),s=e.filter(Boolean);d(this.invitation,o("h2",{},"Table ready: send these links"),o("p",{class:"quiet"},s.length>
0?"Anyone who opens a link takes that seat. Choices stay hidden until everyone has chosen.":"All seats are taken by programs. Choose \u201Ca person\u201D for at least one."),e.map((i,n)=>i===null?o("p",
{class:"quiet"},o("strong",{},t.game.roles[n].name),` is played by ${t.match.seats[n]}.`):this.seat(t.game.roles[n].name,i)),m("Close",()=>{this.invitation.hidden=!0},{class:"small"})),this.invitation.
hidden=!1}catch(e){t.trouble.say(e.message)}}seat(t,e){let s=m("Copy",()=>Jt(e,s),{class:"small","aria-label":`Copy the link for ${t}`});return o("div",{class:"invited"},o("strong",{},t),o("input",{type:"\
text",readonly:!0,value:e,"aria-label":`Link for ${t}`,on:{focus:i=>i.target.select()}}),s,o("a",{href:e},"Take this seat"))}};function ps(a,{boards:t}){return a.map(({name:e})=>t.find(s=>s.colours?.[e])?.colours[e]??"")}var jt=class{constructor(t,e){this.roles=t,this.listener=e,this.kinds=[],this.rows=t.map((s,i)=>this.row(s,
i)),this.element=o("section",{class:"panel seats","aria-label":"Players"},o("h2",{},"Players"),...this.rows.map(s=>s.element))}row(t,e){let s=o("span",{class:`dot r${e%8}`,"aria-hidden":"true"}),i=m("",
()=>this.listener.onWhy(i.dataset.why),{class:"goal"}),n=o("span",{class:"quiet state"}),r=o("select",{"aria-label":`Player of ${t.name}`}),l=o("input",{type:"number",min:"0.1",max:"600",step:"any",value:"\
1","aria-label":`Seconds per move for ${t.name}`}),h=o("label",{class:"seconds"},l," s"),c=o("input",{type:"text",placeholder:"options","aria-label":`Options of ${t.name}`,class:"options",spellcheck:"\
false"}),u=o("span",{class:"fixed",hidden:!0}),p=()=>this.listener.onSit(e,this.player(e));for(let g of[r,l,c])g.addEventListener("change",p);return{element:o("div",{class:"seat"},o("div",{class:"seat\
-head"},s,o("strong",{},t.name),n,i),o("div",{class:"seat-player"},r,h,c,u)),dot:s,goal:i,state:n,kind:r,time:l,seconds:h,options:c,fixed:u}}async load(){this.kinds=await lt();for(let{kind:t}of this.rows)
d(t,o("option",{value:v},"a person"),this.kinds.map(({name:e,what:s})=>o("option",{value:e,title:s},e)));return this.kinds}player(t){let{kind:e,time:s,options:i}=this.rows[t];if(e.value===v)return v;let n=this.
kinds.find(l=>l.name===e.value)?.thinks,r=Math.min(Math.max(Number(s.value)||1,.1),600);return Je({kind:e.value,time:n?`${r}s`:"",options:i.value.replaceAll(/\s/g,"")})}colour(t){t.forEach((e,s)=>{this.
rows[s].dot.style.background=e})}sit(t){t.forEach((e,s)=>{let{kind:i,time:n,options:r}=this.rows[s],l=ft(e);i.value=l.kind,l.time.endsWith("s")&&(n.value=l.time.slice(0,-1)),r.value=l.options,this.shape(
s)})}fix(t){t.forEach((e,s)=>{let{kind:i,seconds:n,options:r,fixed:l}=this.rows[s];for(let h of[i,n,r])h.hidden=!0;l.hidden=!1,l.textContent=e})}shape(t){let{kind:e,seconds:s,options:i}=this.rows[t],n=this.
kinds.find(r=>r.name===e.value);s.hidden=!n?.thinks,i.hidden=!n||n.options.length===0,i.title=(n?.options??[]).map(([r,l])=>`${r}: ${l}`).join(`
`),e.title=n?.what??"A person at this page"}show(t,e,s){this.rows.forEach(({element:i,goal:n,state:r},l)=>{r.textContent=t[l],i.classList.toggle("turn",t[l]!=="");let h=e[l];n.hidden=h===null,n.dataset.
why=`(goal ${this.roles[l].name} ${h})`,n.textContent=h??"",n.classList.toggle("final",s),n.setAttribute("aria-label",`${this.roles[l].name} ${s?"scores":"would score"} ${h}. Why?`)})}};var nt=340,I=130,z=36,Nt=10,ki=8,ms=24;function fs(a){return w("svg",{viewBox:`0 0 ${nt} ${I}`,class:"chart",role:"img","aria-label":a})}function gs(a,t,e){return z+(e>t?(a-t)/(e-t):0)*(nt-z-Nt)}function qt(a){
return I-ms-a*(I-ki-ms)}function ys(a,t){return[w("line",{x1:z,x2:nt-Nt,y1:a,y2:a,class:"rung"}),w("text",{x:z-5,y:a+4,"text-anchor":"end"},t)]}function fe(a,t,e){let s=fs(e),i=a.flatMap(({points:h})=>h.
map(([c])=>c)),n=Math.min(...i,0),r=Math.max(...i,t==="s"?.1:1);for(let h of[0,50,100])s.append(...ys(qt(h/100),String(h)));for(let{index:h,name:c,points:u,dashed:p}of a){if(u.length===0)continue;let f=u.
map(([M,k])=>[gs(M,n,r),qt(Math.min(Math.max(k,0),100)/100)]),g=f.map(([M,k])=>`${M.toFixed(1)},${k.toFixed(1)}`).join(" ");s.append(w("polyline",{points:g,class:"edge"}),w("polyline",{points:g,class:`\
line r${h%8}${p?" dashed":""}`},w("title",{},c)));let[E,A]=f[f.length-1];s.append(w("circle",{cx:E.toFixed(1),cy:A.toFixed(1),r:3,class:`end r${h%8}`}))}let l=h=>t==="s"?`${h.toFixed(1)} s`:`${t} ${h}`;
return s.append(w("text",{x:z,y:I-6},l(n)),w("text",{x:nt-Nt,y:I-6,"text-anchor":"end"},l(r))),s}function ge(a){let t=Math.max(...a,1),e=fs(`New positions by depth, from 0 to ${a.length-1}; at most ${t.
toLocaleString("en")}`),s=Math.max(Math.ceil(Math.log10(t)),1),i=Math.ceil(s/4);for(let r=0;r<=s;r+=i)e.append(...ys(qt(r/s),ye(10**r)));let n=a.map((r,l)=>[gs(l,0,Math.max(a.length-1,1)),qt(Math.log10(
Math.max(r,1))/s),r,l]);e.append(w("polyline",{points:n.map(([r,l])=>`${r.toFixed(1)},${l.toFixed(1)}`).join(" "),class:"line r0"}));for(let[r,l,h,c]of n)e.append(w("circle",{cx:r.toFixed(1),cy:l.toFixed(
1),r:a.length>60?1.5:3,class:"end r0"},w("title",{},`depth ${c}: ${h.toLocaleString("en")}`)));return e.append(w("text",{x:z,y:I-6},"depth 0"),w("text",{x:nt-Nt,y:I-6,"text-anchor":"end"},`depth ${a.length-
1}`)),e}function ye(a){for(let[t,e]of[[1e9,"G"],[1e6,"M"],[1e3,"k"]])if(a>=t)return`${Number((a/t).toPrecision(3))} ${e}`;return String(Number(a.toPrecision(3)))}var Pt=class{constructor(t,{here:e,onPlan:s}){this.game=t,this.here=e,this.onPlan=s,this.seconds=o("input",{type:"number",min:"1",max:"600",value:"30","aria-label":"Time limit in seconds"}),this.method=
o("select",{"aria-label":"Method"},o("option",{value:""},"auto")),this.about=o("p",{class:"quiet"}),this.method.addEventListener("change",()=>{this.about.textContent=this.method.selectedOptions[0].title}),
this.control=m("Solve",()=>this.stop?this.stop.abort():this.start(),{class:"strong"}),this.trouble=b(),this.said=o("div",{"aria-live":"polite"}),this.element=o("div",{class:"solve"},o("p",{class:"quie\
t"},"Finds a solution from this position."),o("div",{class:"line-of"},this.control,o("label",{class:"seconds"},this.seconds," s"),o("label",{},"by ",this.method)),this.about,this.trouble,this.said)}async shown(){
try{let t=await Ae();d(this.method,t.map(({name:e,title:s})=>o("option",{value:e,title:s},e))),this.about.textContent=this.method.selectedOptions[0]?.title??""}catch(t){this.trouble.say(t.message)}}async start(){
let t=this.here();this.stop=new AbortController,this.control.textContent="Stop",this.trouble.say(""),d(this.said,o("p",{class:"quiet"},"Searching \u2026"));let e=null,s={moves:t.moves(),seconds:Number(
this.seconds.value)||30};this.method.value&&(s.method=this.method.value);try{for await(let[i,n]of this.game.events("solve",s,this.stop.signal)){if(i==="failed")throw new Error(n.message);i==="progress"&&
this.progress(e=n),i==="answer"&&this.answer(t,n)}}catch(i){e?this.progress(e,!1):d(this.said,o("p",{class:"quiet"},"Stopped.")),i.name!=="AbortError"&&this.trouble.say(i.message)}finally{this.stop=null,
this.control.textContent="Solve"}}progress({seconds:t,method:e,nodes:s,depth:i,said:n,levels:r},l=!0){d(this.said,o("p",{},l?o("span",{class:"spinner","aria-hidden":"true"}):"Stopped."," ",[e,i!=null&&
`depth ${i}`,s>0&&y(s,"position"),`${t.toFixed(1)} s`].filter(Boolean).join(" \xB7 ")),n&&o("p",{class:"quiet"},n),r?.length>1&&o("div",{"aria-hidden":"true"},o("h3",{},"New positions by depth"),ge(r)))}answer(t,{
solved:e,proved:s,plan:i,said:n,seconds:r,nodes:l,levels:h}){let c=e?`Solved in ${y(i?.length??0,"move")}${s?"; no plan is shorter":""}.`:s?"There is no solution (proved).":"No solution was found.",u=e&&
!s?"A shorter solution may exist.":!e&&n;d(this.said,o("p",{class:"verdict"},c),u&&o("p",{},u),o("p",{class:"quiet"},`${l>0?`${y(l,"position")} in `:""}${r.toFixed(2)} s`),i&&i.length>0&&o("p",{class:"\
line-of"},m("Play the solution",()=>this.onPlan(t,i,!0),{class:"strong"}),m("Step by step",()=>this.onPlan(t,i,!1))),i&&i.length>0&&xi(i),h.length>1&&o("div",{},o("h3",{},"New positions by depth"),ge(
h),o("details",{class:"unfold"},o("summary",{},"As numbers"),o("p",{class:"numbers"},h.map(p=>p.toLocaleString("en")).join(" \xB7 ")))))}leave(){this.stop?.abort()}};function xi(a){let t=o("ol",{class:"\
plan"},a.map(e=>o("li",{},o("code",{},e))));return t.style.columnWidth=`${Math.max(...a.map(e=>e.length))+5}ch`,o("div",{class:"plan-frame"},t)}var It=class{constructor(t){this.panels=t.map(([s,i])=>{let n=`tab-${s.toLowerCase()}`,r=o("button",{type:"button",role:"tab",id:n,"aria-controls":`${n}-panel`,on:{click:()=>{this.own=!0,this.choose(s)}}},
s),l=o("div",{role:"tabpanel",id:`${n}-panel`,"aria-labelledby":n,class:"tab-panel"},i);return{name:s,tab:r,panel:l}});let e=o("div",{role:"tablist",class:"tabs"},this.panels.map(({tab:s})=>s));e.addEventListener(
"keydown",s=>this.key(s)),this.element=o("section",{class:"panel tabbed"},e,this.panels.map(({panel:s})=>s)),this.choose(t[0][0])}choose(t){this.chosen=t;for(let{name:e,tab:s,panel:i}of this.panels)s.
setAttribute("aria-selected",String(e===t)),s.tabIndex=e===t?0:-1,i.hidden=e!==t}suggest(t){!this.own&&this.chosen!==t&&this.choose(t)}key(t){let e={ArrowLeft:-1,ArrowRight:1}[t.key];if(!e)return;let s=this.
panels.findIndex(({name:n})=>n===this.chosen),i=this.panels[(s+e+this.panels.length)%this.panels.length];this.own=!0,this.choose(i.name),i.tab.focus(),t.preventDefault()}};var $i=15,Si={nodes:new Set,arcs:new Set},Ft=class{constructor({onGo:t,onOpen:e}){this.onGo=t,this.onOpen=e,this.sheet=new H("Search tree of a player",{onPick:s=>s&&this.go(s),tooltip:s=>this.tooltip(
s),description:s=>this.description(s)}),this.control=m("Show the tree",()=>this.open(!this.shown),{"aria-expanded":"false",class:"small"}),this.state=o("p",{class:"quiet","aria-live":"polite"}),this.line=
o("p",{class:"variation",hidden:!0}),this.legend=o("p",{class:"legend"},o("span",{},q("open","value-0"),"expected score 0"),o("span",{},q("open","value-5"),"50"),o("span",{},q("open","value-10"),"100"),
o("span",{},q("ended","value-5"),"game over"),o("span",{},o("span",{class:"stroke lit"}),"principal variation"),o("span",{},"larger: more visits")),this.body=o("div",{class:"tree",hidden:!0},this.state,
this.line,this.sheet.element,this.legend),this.sheet.spreads(this.body),this.element=o("div",{class:"tree-box"},this.control,this.body),this.clear()}open(t){this.shown=t,this.body.hidden=!t,this.control.
textContent=t?"Hide the tree":"Show the tree",this.control.setAttribute("aria-expanded",String(t)),t&&(this.last?this.grown(...this.last):(this.show(),this.onOpen()))}clear(t="Ask for a hint or let a \
program move to see its search tree."){this.from=null,this.last=null,this.known=new Map,this.root=null,this.ranks=[],this.arcs=[],this.words=[],this.state.textContent=t,this.show()}grown(t,e,s,{nodes:i,
all:n}){if((this.from!==t||this.player!==e)&&this.clear(),Object.assign(this,{from:t,player:e,name:s,last:[t,e,s,{nodes:i,all:n}]}),!this.shown)return;let r=new Map,l=[];this.arcs=[];for(let[h,c]of i.
entries()){let u=c.from===null?null:l[c.from],p=u?`${u.path};${c.joint.join(" ")}`:"";for(;r.has(p);)p+=";";let f=Object.assign(this.known.get(p)??{path:p,x:u?.x??.5},c,{in:[],out:[],parent:u,id:h});if(r.
set(p,f),l.push(f),!u)continue;let g={from:u,to:f,move:c.move,repeats:!1,chance:0};u.out.push(g),f.in.push(g),this.arcs.push(g)}this.known=r,this.root=l[0],this.ranks=this.root?Qe(this.root):[],this.state.
textContent=`${e} as ${s}: ${i.length} of ${y(n,"node")} shown.`,this.show()}expects(t){this.words=t??[],this.show()}along(){if(!this.root||this.ranks.length===0)return Si;let t=new Set([this.root]),e=new Set,
s=this.root;for(let i of this.words){let n=s.out.find(r=>r.move===i);if(!n)break;e.add(n),t.add(n.to),s=n.to}return{nodes:t,arcs:e}}show(){if(this.line.hidden=this.words.length===0,d(this.line,"Princi\
pal variation: ",this.words.map(e=>o("code",{},e))),!this.shown)return;let t=Math.max(1,this.root?.visits??1);this.sheet.show({ranks:this.ranks,arcs:this.arcs,repeats:!1,lit:this.along(),isFaint:()=>!1,
words:e=>e.move??"",kind:e=>e.ended?"ended":"open",look:e=>`value-${Math.round(Math.min(Math.max(e.value,0),100)/10)}`,radius:e=>Math.max(1.6,$i*Math.sqrt(e.visits/t))})}tooltip(t){return[o("strong",{},
t.move?o("code",{},t.move):"Current position"),o("div",{},`${y(t.visits,"visit")}, expected score ${t.value.toFixed(1)}${t.ended?"; game over":""}`),o("div",{class:"quiet"},"Click to go there")]}description(t){
return`${t.move??"The start"}, ${y(t.visits,"visit")}, expected score ${t.value.toFixed(0)}, ${y(t.out.length,"child").replace(/childs$/,"children")}.`}go(t){this.sheet.large(!1);let e=[];for(let s=t;s.
parent;s=s.parent)e.push(s.joint);this.onGo(this.from,e.reverse())}leave(){this.sheet.leave()}};var ws=8,Ei=4,Dt=class{constructor(t,{onHover:e,onGo:s,onOpen:i},n){this.roles=t,this.all=!1,this.runs=new Map,this.live=o("div",{class:"thoughts"}),this.match=o("div",{}),this.tree=new Ft({onGo:s,onOpen:i}),
this.element=o("div",{},this.live,this.tree.element,this.match,n),this.live.addEventListener("pointerover",r=>{let l=r.target.closest("[data-move]");e(l?.dataset.move??null,l?Number(l.dataset.role):null)}),
this.live.addEventListener("pointerleave",()=>e(null,null)),this.clear()}colour(t){this.element.classList.toggle("coloured",t.some(Boolean)),t.slice(0,8).forEach((e,s)=>this.element.style.setProperty(
`--role-${s}`,e))}clear(){this.runs.clear(),d(this.live,o("p",{class:"quiet"},"This shows the candidate moves of a program while it thinks. \u201CHint\u201D asks a program for the best move."))}hide(){
d(this.live,o("p",{class:"quiet"},"Programs choose at the same time; their thoughts are hidden until everyone has chosen.")),this.tree.clear("Hidden until everyone has chosen.")}show(t,e,s,i,n=null){let r=this.
runs.get(t),l=r&&s.seconds>=r.seconds&&r.player===e?r:{player:e,points:[]};Object.assign(l,{thought:s,running:i,onTake:n,isHint:n!==null,isStopped:!1,seconds:s.seconds}),s.value!==null&&l.points.push(
[s.seconds,s.value]),this.runs.set(t,l),this.tree.expects(s.line),this.render()}stopped(t){let e=this.runs.get(t);e?.running&&(Object.assign(e,{running:!1,isStopped:!0}),this.render())}left(){for(let t of this.
runs.values())t.isHint&&Object.assign(t,{isStopped:t.isStopped||t.running,running:!1,onTake:null});[...this.runs.values()].some(t=>t.isHint)&&this.render()}grown(t,e,s,i){this.tree.grown(s,e,this.roles[t].
name,i)}render(){d(this.live,[...this.runs].map(([t,e])=>this.run(t,e)))}run(t,{player:e,points:s,thought:i,running:n,onTake:r,isHint:l,isStopped:h}){let c=this.roles[t].name,{move:u,value:p,nodes:f,seconds:g,
candidates:E,line:A,why:M=[]}=i,k=n||A.length<2?M:[...M,`then expected: ${A.slice(1,1+Ei).join("; ")}`],T=[...E].sort(($,N)=>N.visits-$.visits||N.value-$.value),J=this.all?T:T.slice(0,ws),K=Math.max(1,
...T.map($=>$.visits));return o("div",{class:"thought"},o("h3",{},`${e} ${l?"for":"as"} ${c}`,n&&o("span",{class:"spinner","aria-hidden":"true"})),o("p",{},n?"Best so far: ":h?"Stopped. Best so far: ":
l?"Would play ":"Plays ",o("code",{},u),p===null?"":`, expected score ${p.toFixed(1)}`,i.by_chance&&" (random move)",". ",r&&!n&&m("Play it",()=>r(u),{class:"small"})),k.length>0&&o("ul",{class:"reaso\
ns","aria-label":"Reasons"},k.map($=>o("li",{},$))),f>0&&o("p",{class:"quiet"},`${y(f,"position")} in ${g.toFixed(1)} s${g>.05?`, ${ye(f/g)} per second`:""}`),J.length>0&&o("table",{class:"candidates"},
o("thead",{},o("tr",{},...["Move","Expected","Visits"].map($=>o("th",{scope:"col"},$)))),o("tbody",{},...J.map($=>Mi(t,$,u,K)))),T.length>ws&&m(this.all?"Fewer":`All ${T.length}`,()=>{this.all=!this.all,
this.render()},{class:"small"}),s.length>1&&fe([{index:t,name:c,points:s}],"s",`Expected score of ${c} over time: now ${s[s.length-1][1].toFixed(0)}`))}over(t){let e=l=>this.roles.map(({name:h},c)=>({
index:c,name:h,points:t.map(u=>[u.ply,l(u,c)]).filter(([,u])=>u!==void 0)})).filter(({points:h})=>h.length>1),s=e((l,h)=>l.values.get(h)),i=e((l,h)=>this.roles[h].random?void 0:l.learned?.[h]).map(l=>({
...l,name:`${l.name}, learned`,dashed:!0})),n=[...s,...i],r=this.roles.map(({name:l},h)=>({index:h,name:l})).filter(({index:l})=>n.some(h=>h.index===l));d(this.match,n.length>0&&o("div",{class:"though\
t over"},o("h3",{},"Over the match"),o("p",{class:"legend"},r.map(({index:l,name:h})=>o("span",{},o("span",{class:`dot r${l%8}`}),h)),i.length>0&&[s.length>0&&vs("search",""),vs("learned values","dash\
ed")].filter(Boolean)),fe(n,"move",`Expected scores over the match${i.length>0?", dashed: learned values":""}`)))}};function vs(a,t){return o("span",{},w("svg",{viewBox:"0 0 24 8",width:24,height:8,class:"\
chart sample","aria-hidden":"true"},w("line",{x1:0,x2:24,y1:4,y2:4,class:`line ${t}`})),a)}function Mi(a,{move:t,visits:e,value:s,bounds:i,distance:n=null},r,l){let h=i[0]===i[1],c=o("span",{class:"ba\
r"},o("span",{class:`r${a%8}`}));c.firstChild.style.width=`${e>0||h?Math.min(Math.max(s,0),100):0}%`;let u=o("span",{class:"share"});return u.style.width=`${(100*e/l).toFixed(1)}%`,o("tr",{class:t===r?
"best":null,"data-move":t,"data-role":a},o("td",{},o("code",{},t)),o("td",{title:h?"proved":`between ${i[0]} and ${i[1]} (proved)`},c,o("span",{class:"number"},`${e>0||h?s.toFixed(1):"\u2013"}${h?" \u2713":
""}${n===null?"":`, the end after ${y(n,"move")}`}`)),o("td",{class:"visits"},o("span",{class:"number"},e.toLocaleString("en")),u))}var bs=650,Bt=class{constructor({onGo:t,onUndo:e,onRedo:s}){this.onGo=t,this.first=m(C("first"),()=>this.go(this.line[0]),{"aria-label":"To the start",title:"To the start"}),this.undo=m("Undo",e,{title:"\
Take the last move back (u)"}),this.redo=m("Redo",s,{title:"Play the next move again (r)"}),this.last=m(C("last"),()=>this.go(this.line[this.line.length-1]),{"aria-label":"To the end",title:"To the en\
d"}),this.playing=m(C("play"),()=>this.timer?this.halt():this.play(),{"aria-label":"Play the moves",title:"Play the moves"}),this.slider=o("input",{type:"range",min:"0",max:"0",value:"0",step:"1","ari\
a-label":"Position in the match"}),this.slider.addEventListener("input",()=>this.go(this.line[Number(this.slider.value)])),this.count=o("span",{class:"quiet count"}),this.transport=o("div",{class:"tra\
nsport"},this.first,this.undo,this.redo,this.last,this.playing,this.slider,this.count),this.list=o("ol",{class:"history"}),this.list.addEventListener("click",i=>{let n=i.target.closest("[data-node]");
n&&this.go(this.nodes[Number(n.dataset.node)])}),this.element=this.list,this.line=[]}go(t){this.halt(),this.onGo(t)}play(){let t=async()=>{let e=this.timer;await this.onGo(this.line[this.here+1]??this.
line[0]),this.timer===e&&(this.here<this.line.length-1?this.timer=setTimeout(t,bs):this.halt())};this.timer=setTimeout(t,bs),this.face()}halt(){clearTimeout(this.timer),this.timer=null,this.face()}face(){
d(this.playing,C(this.timer?"pause":"play")),this.playing.setAttribute("aria-label",this.timer?"Stop playing the moves":"Play the moves")}show(t){this.line=t.line(),this.here=t.here.ply;let e=this.line.
length-1;this.slider.max=String(e),this.slider.value=String(this.here),this.slider.disabled=e===0,this.count.textContent=`${this.here} / ${e}`,this.first.disabled=this.undo.disabled=this.here===0,this.
last.disabled=this.redo.disabled=this.here===e,this.playing.disabled=e===0,this.nodes=[];let s=this.list.contains(document.activeElement);d(this.list,this.line.length>1?this.line.slice(1).map(n=>this.
row(n)):o("li",{class:"quiet none"},"No moves yet."));let i=this.list.querySelector("[aria-current]");s&&i?.focus({preventScroll:!0}),i&&(this.list.scrollTop=Math.max(0,i.offsetTop-this.list.clientHeight/
2))}row(t){let e=t.parent.children.filter(s=>s!==t);return o("li",{},o("span",{class:"ply"},String(t.ply)),this.jump(t,t.ply===this.here),e.length>0&&o("div",{class:"branches"},o("span",{class:"quiet"},
"or "),e.map(s=>this.jump(s,!1))))}jump(t,e){let s=this.nodes.push(t)-1,i=t.parent.position?.turn;return o("button",{type:"button","data-node":s,"aria-current":e?"step":null,class:"joint"},t.joint.map(
(n,r)=>o("span",{class:i&&i.length>0&&!i.includes(r)?"forced":null},`${n} `)))}};var ve={share:["share of the points",({share:a,count:t})=>(a/t).toFixed(2)],score:["mean score",({score:a,count:t})=>(a/t).toFixed(0)]};function we(){return{score:0,share:0,count:0}}var _=class{constructor(t){
this.players=t,this.cells=t.map(()=>t.map(we)),this.played=t.map(we),this.element=o("div",{class:"cross",tabindex:"0",role:"region","aria-label":"Cross table"})}meet(t,e){t.forEach((s,i)=>{s===null||e[i]===
null||(ks(this.played[s],e[i],0),t.forEach((n,r)=>{n===null||n===s||e[r]===null||ks(this.cells[s][n],e[i],(Math.sign(e[i]-e[r])+1)/2)}))})}show(t){let[e,s]=ve[t],{players:i,cells:n,played:r}=this,l=f=>f.
count>0?s(f):"",h=n.map(f=>f.reduce((g,{score:E,share:A,count:M})=>({score:g.score+E,share:g.share+A,count:g.count+M}),we())),c=f=>h[f].count>0?h[f][t]/h[f].count:-1,u=f=>r[f].count>0?r[f].score/r[f].
count:-1,p=i.map((f,g)=>g).sort((f,g)=>c(g)-c(f)||u(g)-u(f));d(this.element,o("table",{},o("caption",{class:"unseen"},`Each player against each other player: ${e}`),o("thead",{},o("tr",{},o("th",{scope:"\
col"},"Player"),p.map((f,g)=>o("th",{scope:"col"},String(g+1))),o("th",{scope:"col"},t==="score"?"Mean":"Share"),o("th",{scope:"col"},"Score"),o("th",{scope:"col",title:"Number of matches"},"Games"))),
o("tbody",{},p.map((f,g)=>o("tr",{},o("th",{scope:"row"},`${g+1}. ${i[f]}`),p.map(E=>o("td",{},E===f?"\xB7":l(n[f][E]))),o("td",{},o("strong",{},l(h[f]))),o("td",{},r[f].count>0?u(f).toFixed(1):""),o(
"td",{},String(r[f].count)))))))}};function ks(a,t,e){a.score+=t,a.share+=e,a.count+=1}var Ti=1e3;function Ai(a,t){let e=[];for(let s=0;s<a;s+=1)for(let i=s+1;i<a;i+=1)e.push(Array.from({length:t},(n,r)=>r%2===0?s:i)),e.push(Array.from({length:t},(n,r)=>r%2===0?i:s));return e}var Wt=class{constructor(t,e){
this.game=t,this.onMatch=e,this.players=o("textarea",{rows:"3",class:"players",spellcheck:"false","aria-label":"Players, one per line",value:`mcts:0.3s
minimax:0.3s
random`}),this.rounds=o("input",{type:"number",min:"1",max:"50",value:"1","aria-label":"Rounds"}),this.control=m("Start",()=>this.stop?this.stop.abort():this.start(),{class:"strong"}),this.trouble=b(),
this.state=o("p",{class:"quiet","aria-live":"polite"}),this.table=o("div"),this.list=o("ol",{class:"results"}),this.element=o("div",{class:"solve"},o("p",{class:"quiet"},"Everyone plays everyone, in e\
very seat. One player per line, e.g. mcts:0.5s."),this.players,o("div",{class:"line-of"},this.control,o("label",{class:"seconds"},"Rounds ",this.rounds)),this.trouble,this.state,this.table,this.list)}async start(){
let t=this.players.value.split(`
`).map(n=>n.trim()).filter(Boolean);if(this.trouble.say(t.length<2?"A tournament needs at least two players, one per line.":""),t.length<2)return;let e=Math.min(Math.max(Math.round(Number(this.rounds.
value))||1,1),50),s=this.game.roles.filter(n=>!n.random).length,i=Array.from({length:e},()=>Ai(t.length,s)).flat();this.cross=new _(t),d(this.table,this.cross.element),d(this.list),this.stop=new AbortController,
this.control.textContent="Stop";try{for(let[n,r]of i.entries()){let l=r.map(u=>t[u]),h=`Match ${n+1} of ${i.length}: ${l.join(" \u2013 ")}`,c=await this.match(l,h);this.count(t,r,c)}this.state.textContent=
i.length===1?"1 match was played.":`${i.length} matches were played.`}catch(n){this.state.textContent="",n.name==="AbortError"?this.state.textContent="Stopped.":this.trouble.say(n.message)}finally{this.
stop=null,this.control.textContent="Start"}}async match(t,e){let{signal:s}=this.stop,i=new P(null,null),n=[...t],r=this.game.roles.map(l=>l.random?"random":n.shift());for(;;){let l=i.moves();i.position=
await this.game.ask("position",{moves:l},s),this.state.textContent=`${e}, move ${i.ply}`;let{legal:h,turn:c}=i.position;if(x(i.position)||i.ply>=Ti)return i;let u=await Promise.all(h.map((p,f)=>c.includes(
f)?tt(this.game,{moves:l,role:f,player:r[f]},s,()=>{}):p[0]?.move));i=new P(i,u)}}count(t,e,s){let i=this.game.roles.map((u,p)=>p).filter(u=>!this.game.roles[u].random),{over:n,faults:r}=s.position,l=i.
map(u=>s.position.goals[u]),h=s.moves(),c=l.map(u=>u??"\u2013").join(" : ");this.list.prepend(o("li",{},m(`${e.map(u=>t[u]).join(" \u2013 ")}  ${c}`,()=>this.onMatch(h),{class:"joint"}))),r.length>0&&
this.trouble.say(U(this.game,s.position)),!(!n||r.length>0)&&(this.cross.meet(e,l),this.cross.show("score"))}leave(){this.stop?.abort()}};var Ci=120,Li=matchMedia("(max-width: 760px)"),ot=class{constructor(t,e){this.game=t,this.target=e,this.history=new St,this.cells=[],this.seen=new Map;let s={onJoint:r=>this.joint(r),onChange:()=>this.
changed(),onThought:(r,l,h)=>this.thought(r,l,h),onTree:(r,l,h)=>this.grown(r,l,h),onTrouble:r=>this.trouble.say(r),onStop:r=>this.think.stopped(r)};this.atTable=e.table!==void 0,this.match=this.atTable?
new Ot(t,this.history,e,s):new mt(t,s),this.trouble=b(),this.status=o("p",{class:"status","aria-live":"polite"}),this.board=new G({onCell:r=>this.cell(r),onClear:()=>this.choose([])});let i=r=>this.why.
ask(r);this.moves=new ut({onWhy:i,onMove:(r,l)=>this.move(r,l),onBack:r=>this.match.back(r),onHover:r=>this.mark({hover:new Set(r.map(l=>l.join(" ")))}),onClear:()=>this.choose([])}),this.facts=new yt(
i),this.timeline=new Bt({onGo:r=>this.go(r),onUndo:()=>this.step(-1),onRedo:()=>this.step(1)}),this.seats=new jt(t.roles,{onWhy:i,onSit:(r,l)=>this.sit(r,l)});let n=(r,l)=>this.timeline.go(this.history.
graft(r,l));this.learned=new At(t,{line:()=>this.history.line(),here:()=>this.history.here,onValues:()=>this.think.over(this.history.line())}),this.think=new Dt(t.roles,{onGo:n,onHover:(r,l)=>this.mark(
{hover:this.cellsOf(l,r)}),onOpen:()=>this.controls.grow()},this.learned.element),this.why=new Mt(t,()=>this.history.here.moves(),()=>{Li.matches||this.board.element.scrollIntoView({block:"nearest"})}),
this.hover=new Tt(t,()=>this.history.here),this.controls=new gt(this),this.sharing=new Rt(this),this.solve=t.roles.length===1?new Pt(t,{here:()=>this.history.here,onPlan:(...r)=>this.plan(...r)}):null,
this.graph=this.atTable?null:new $t(t,{here:()=>this.history.here,onGo:n}),this.tournament=t.roles.length>1&&!this.atTable?new Wt(t,r=>this.replay(r)):null,this.tabs=new It([this.solve&&["Solve",this.
solve.element],["History",this.timeline.element],["Thinking",this.think.element],this.graph&&["Graph",this.graph.element],this.tournament&&["Tournament",this.tournament.element]].filter(Boolean)),this.
write=R(Ci,()=>this.address()),this.layout()}layout(){let{game:t}=this;this.element=o("article",{class:"game","aria-busy":"true"},o("div",{class:"game-head"},o("h1",{tabindex:"-1"},t.title,D(t)&&o("sp\
an",{class:"quiet subtitle"},` ${D(t)}`)),this.sharing.element),t.about.trim()&&o("details",{class:"unfold about"},o("summary",{},"About this game"),o("p",{},t.about.trim())),o("div",{class:"columns"},
o("div",{class:"stage"},this.status,this.trouble,this.controls.element,this.board.element,this.timeline.transport,this.facts.element),o("div",{class:"side"},this.seats.element,this.atTable&&!this.target.
key&&cs(this.target),this.sharing.invitation,this.moves.element),o("div",{class:"side"},this.tabs.element)),this.why.element,this.hover.element),this.hover.listen(this.element),this.element.addEventListener(
"drop",e=>{let s=e.dataTransfer.files[0];s&&!this.atTable&&this.sharing.load(s)}),this.keys=e=>this.key(e)}async shown(){if(this.own=location.hash,this.ended=W(()=>this.board.paint()),document.addEventListener(
"keydown",this.keys),this.solve?.shown(),this.atTable){await this.watch();return}let{moves:t,then:e,seats:s,early:i}=this.target,n=t.some(c=>c.length<this.game.roles.length),r=await(i??(n?this.game.ask(
"position",{moves:t}).catch(()=>null):null));if(this.gone)return;let l=this.history.graft(this.history.root,r?.moves??t);if(this.history.graft(l,e),l.position=r,l.position&&(this.board.show(l.position.
svg,`Board of ${this.game.title}`),await Oe(),this.gone))return;let h=null;try{let c=await this.seats.load();this.defaultSeats=Ke(this.game.roles,c),h=s&&Oi(s,this.game.roles,c),this.match.seats=s&&!h?
s:[...this.defaultSeats],this.seats.sit(this.match.seats),this.controls.offer(c)}catch(c){this.trouble.say(c.message)}await this.go(l,t.length===0&&this.match.seats.includes(v)),h&&this.trouble.say(h),
this.target.damaged&&this.trouble.say("The moves in this address cannot be read. Was it copied completely? This is the initial position.")}leave(){this.gone=!0,this.match.stop(),this.controls.leave(),
this.timeline.halt(),this.think.tree.leave(),this.learned.leave(),this.hover.leave(),this.solve?.leave(),this.graph?.leave(),this.tournament?.leave(),this.table?.abort(),this.write.cancel(),this.ended?.(),
document.removeEventListener("keydown",this.keys),document.body.classList.remove("asking")}async load(t){return t.position??=await this.game.ask("position",{moves:t.moves()}),t.position}async go(t,e=!1){
let s=this.history.here;this.match.depart(),t!==s&&(this.controls.leave(),this.think.left(),e||this.think.clear()),this.seen.clear(),this.history.goto(t),this.timeline.show(this.history),this.cells=[],
this.hover.hide(),this.element.setAttribute("aria-busy","true");try{await this.load(t)}catch(n){if(this.gone||this.history.here!==t)return;this.trouble.say(n.message);let r=t.path(),l=n.body?.made??0,
h=s!==t&&s.position?s:r[Math.min(l,r.length-2)]??t;if(h!==t){let c=s===h?t:r[h.ply+1];c.parent.children=c.parent.children.filter(u=>u!==c),c.parent.next=null,await this.go(h),this.trouble.say(n.message)}
return}if(this.gone||this.history.here!==t)return;this.trouble.say(""),this.element.removeAttribute("aria-busy"),this.hint=null,this.board.show(t.position.svg,`Board of ${this.game.title}`),this.facts.
show(t.position);let i=ps(this.game.roles,t.position.drawing);this.seats.colour(i),this.think.colour(i),this.timeline.show(this.history),this.think.over(this.history.line()),this.learned.follow(),this.
match.arrive(t,e),this.atTable||this.write(),t.parent&&!t.parent.position&&this.load(t.parent).then(()=>this.changed(),()=>{})}joint(t){for(let e of[...this.seen.keys()])this.reveal(e);this.go(this.history.
child(this.history.here,t),!0)}step(t){let e=this.history.line(),s=this.match.seats.includes(v)&&this.match.branches,i=this.history.here.ply+t,n=({position:r})=>!r||x(r)||r.turn.some(l=>this.match.seats[l]===
v);for(;s&&e[i+t]&&!n(e[i]);)i+=t;e[i]&&this.timeline.go(e[i])}plan(t,e,s){this.timeline.halt(),this.history.graft(t,e.map(i=>[i])),this.go(s?t:t.next).then(()=>{s&&this.timeline.play()}),this.tabs.choose(
"History")}replay(t){this.match.pause(),this.timeline.go(this.history.graft(this.history.root,t))}address(){let{here:t}=this.history,{seats:e}=this.match,s=this.defaultSeats&&e.join(";")!==this.defaultSeats.
join(";"),i=L(this.game.path,{moves:t.moves(),then:this.history.ahead(),seats:s?e:null});location.hash===this.own&&(location.hash!==i&&history.replaceState(null,"",i),this.own=location.hash)}get active(){
return this.game.roles.findIndex((t,e)=>this.match.stateOf(e)==="open")}get choices(){return this.history.here.position?.legal[this.active]??[]}cellsOf(t,e){let s=this.history.here.position?.legal[t]?.
find(i=>i.move===e);return new Set((s?.cells??[]).map(i=>i.join(" ")))}cell(t){if(this.cells.includes(t))return this.choose(this.cells.filter(s=>s!==t));let e=[...this.cells,t];return this.choose(this.
choices.some(s=>B(s,e))?e:[t])}choose(t){let e=this.choices.filter(s=>B(s,t));if(t.length>0&&e.length===0&&(t=[]),t.length>this.cells.length&&e.length===1){this.move(this.active,e[0].move);return}this.
cells=t,this.changed()}move(t,e){this.match.node&&(this.cells=[],this.match.choose(t,e))}sit(t,e){this.match.sit(t,e),this.seats.sit(this.match.seats),this.write()}thought(t,e,s){this.tabs.suggest("Th\
inking"),this.match.secret?(this.seen.set(t,[e,...this.seen.get(t)?.slice(1)??[]]),this.think.hide()):(this.reveal(t),this.think.show(t,this.match.seats[t],e,s)),this.controls.show()}grown(t,e,s){if(this.
match.secret){this.seen.has(t)&&this.seen.set(t,[this.seen.get(t)[0],e,s]);return}this.reveal(t),this.think.grown(t,this.match.seats[t],e,s)}reveal(t){if(!this.seen.has(t))return;let[e,...s]=this.seen.
get(t);this.seen.delete(t),this.think.show(t,this.match.seats[t],e,!1),s.length>0&&this.think.grown(t,this.match.seats[t],...s)}changed(){let{position:t}=this.history.here;if(!this.match.node||this.gone)
return;let e=this.game.roles.map((r,l)=>this.match.stateOf(l)),s=x(t)?[]:this.game.roles.map(({name:r},l)=>({role:l,name:r,moves:t.legal[l]??[],state:e[l]==="thinking"?"others":e[l],back:this.match.branches&&
this.match.seats[l]===v})),i={open:0,chosen:1,others:2,single:3};this.moves.show(s.sort((r,l)=>i[r.state]-i[l.state]||r.role-l.role),this.cells);let n={open:"to move",chosen:"has chosen",thinking:"thi\
nks \u2026",others:"",single:""};this.seats.show(e.map((r,l)=>r==="others"&&t.turn.includes(l)&&!x(t)?"to move":n[r]),t.goals,t.over),this.mark({}),this.say(t,e),this.controls.show()}say(t,e){let s=h=>Ri(
this.game.roles.filter((c,u)=>h(u)).map(({name:c})=>c)),i=this.history.here.joint,n=this.history.here.parent?.position,r=i?this.game.roles.map(({name:h},c)=>!n||n.turn.length===0||n.turn.includes(c)?`${h}\
 ${i[c]}`:null).filter(Boolean).join(", "):"",l;if(x(t))l=U(this.game,t);else if(this.atTable&&this.history.here!==this.match.end)l=`This is an earlier position; the match has ${y(this.match.end.ply,"\
move")}.`;else if(this.match.failed)l=this.match.failed;else if(e.includes("open")){let h=s(c=>e[c]==="thinking");l=`Your move: ${s(c=>e[c]==="open")}${h?`; ${h} chooses at the same time`:""}.`}else e.
includes("thinking")?l=`${s(h=>e[h]==="thinking")} thinks \u2026`:t.turn.length===0?l="Only one move is possible.":this.atTable&&this.history.here===this.match.end?l=`Waiting for ${s(h=>t.turn.includes(
h)&&e[h]!=="chosen")}.`:l=`${s(h=>t.turn.includes(h))} to move${this.match.waits?" (paused)":""}.`;d(this.status,o("strong",{},l),r&&o("span",{class:"quiet"},` Last: ${r}`))}mark(t){let e=new Set,s=new Set;
for(let h of this.choices){let c=this.cells.length>0&&B(h,this.cells);for(let u of h.cells.map(p=>p.join(" ")))s.add(u),c&&!this.cells.includes(u)&&e.add(u)}let{joint:i,parent:n,position:r}=this.history.
here,l=new Set;if(i?.forEach((h,c)=>{let u=n.position?.turn.includes(c)&&n.position.legal[c].find(p=>p.move===h);for(let p of u?u.cells:[])l.add(p.join(" "))}),l.size>1){let h=[...l].filter(c=>xs(r,c)!==
xs(n.position,c));h.length>0&&(l=new Set(h))}this.board.mark({chosen:new Set(this.cells),near:e,open:s,last:l,hint:this.hint,...t})}key(t){if(!(t.ctrlKey||t.metaKey||t.altKey||t.target.closest?.("inpu\
t, textarea, select"))){if(t.key==="u")this.step(-1);else if(t.key==="r")this.step(1);else if(t.key==="Escape")this.choose([]);else return;t.preventDefault()}}async watch(){this.table=new AbortController,
this.seats.fix(this.target.said.seats);try{for await(let t of ds(this.target.table,this.table.signal,e=>this.trouble.say(e))){let e=this.history.here===this.match.end,s=this.match.changed(t);this.seats.
fix(t.seats.map((i,n)=>n===this.target.seat&&this.target.key?`${i} (you)`:i)),e||!this.history.here.position?await this.go(s,!0):(this.timeline.show(this.history),this.changed())}}catch(t){this.trouble.
say(t.message)}}};function Oi(a,t,e){if(a.length!==t.length)return`This address names ${a.length} players, but the game has ${t.length} roles. The default players are used.`;let s=new Set([v,...e.map(
({name:n})=>n)]),i=a.map(n=>ft(n).kind).find(n=>!s.has(n));return i===void 0?null:`This address names an unknown player, ${i}. The default players are used.`}function xs({drawing:a},t){let[e,s,i]=t.split(
" ");return JSON.stringify(a.boards[e]?.contents[s]?.[i])}function Ri(a){return a.length>1?`${a.slice(0,-1).join(", ")} and ${a[a.length-1]}`:a[0]??""}var $s=64*1024*1024,Ss=2e5,Es=60,be=200;function Ms(a,t){let e=t.trimStart().split(`
`,1)[0];if(/\.jsonl$/i.test(a))return!0;try{return Array.isArray(JSON.parse(e)?.players)}catch{return!1}}function ji(a,t){let e=t.split(`
`),s=new Map,i=!1;return e.forEach((n,r)=>{if(!n.trim())return;let l;try{l=JSON.parse(n)}catch{if(i=r===e.length-1,i)return;throw new Error(`${a}:${r+1}: not a line of results: it is not JSON.`)}if(!(typeof l?.
game=="string"&&Array.isArray(l.players)&&Array.isArray(l.roles)&&l.players.length===l.roles.length&&l.players.every(c=>c===null||typeof c=="string")&&(l.scores===null||Array.isArray(l.scores)&&l.scores.
length===l.roles.length&&l.scores.every(c=>c===null||Number.isFinite(c)))))throw new Error(`${a}:${r+1}: not a line of results: it needs \u201Cgame\u201D, and \u201Cplayers\u201D, \u201Croles\u201D and \u201Cscores\u201D of equal length.`);
if(s.set(l.id??r,l),s.size>Ss)throw new Error(`${a} has more than ${Ss.toLocaleString("en")} matches.`)}),{matches:[...s.values()],cut:i}}var Gt=class{constructor(t){this.known=t;let e=o("input",{type:"\
file",accept:".jsonl,.json",hidden:!0,"aria-label":"Results of a tournament"});e.addEventListener("change",async()=>{e.files[0]&&await this.load(e.files[0]),e.value=""}),this.trouble=b(),this.state=o(
"p",{"aria-live":"polite"}),this.game=o("select",{"aria-label":"Game"}),this.measure=o("select",{"aria-label":"Measure"},Object.entries(ve).map(([s,[i]])=>o("option",{value:s},i)));for(let s of[this.game,
this.measure])s.addEventListener("change",()=>this.show());this.choice=o("div",{class:"line-of",hidden:!0},this.game,this.measure),this.table=o("div"),this.list=o("ol",{class:"results"}),this.element=
o("section",{class:"panel cup","aria-label":"Tournaments"},o("h2",{},"Tournaments"),o("p",{class:"quiet"},"Drop a file written by ",o("code",{},"ggp tournament --results FILE")," here to see who beat \
whom."),o("div",{class:"line-of"},m("Open results \u2026",()=>e.click()),e,this.state),this.trouble,this.choice,this.table,this.list)}async load(t){try{if(t.size>$s)throw new Error(`${t.name} is large\
r than ${$s/1024/1024} MiB.`);this.take(t.name,await F(t))}catch(e){this.trouble.say(e.message)}}take(t,e){this.trouble.say("");try{let{matches:s,cut:i}=ji(t,e);if(s.length===0)throw new Error(`${t} c\
ontains no matches.`);this.matches=s,this.state.textContent=`${t}: ${y(s.length,"match").replace(/matchs$/,"matches")}${i?"; its last line is incomplete":""}.`;let n=[...new Set(s.map(({game:r})=>r))];
d(this.game,n.length>1&&o("option",{value:""},`all ${n.length} games`),n.map(r=>o("option",{value:r},r))),this.choice.hidden=!1,this.show()}catch(s){this.trouble.say(s.message)}this.element.scrollIntoView(
{block:"nearest"})}show(){let t=this.matches.filter(({game:h})=>!this.game.value||h===this.game.value),e=[...new Set(t.flatMap(h=>h.players.filter(c=>c!==null)))];if(e.length>Es){this.trouble.say(`The\
re are ${e.length} players; a table has at most ${Es}.`);return}let s=new _(e),i=new Map(e.map((h,c)=>[h,c])),n=t.filter(({scores:h})=>h!==null);for(let{players:h,scores:c}of n)s.meet(h.map(u=>i.get(u)??
null),c);s.show(this.measure.value);let r=t.length-n.length,l=t.reduce((h,c)=>h+(c.errors?.length??0),0);d(this.table,s.element,(r>0||l>0)&&o("p",{class:"quiet"},[r>0&&`${r} not finished`,l>0&&y(l,"er\
ror")].filter(Boolean).join(", "))),d(this.list,t.slice(-be).reverse().map(h=>this.row(h)),t.length>be&&o("li",{class:"quiet"},`${(t.length-be).toLocaleString("en")} more`))}row({game:t,players:e,scores:s,
moves:i}){let n=`${t}: ${e.map(l=>l??"chance").join(" \u2013 ")}  ${s?s.map(l=>l??"\u2013").join(" : "):"not finished"}`,r=this.known(t);return o("li",{},r&&Array.isArray(i)&&i.every(Array.isArray)?o(
"a",{href:L(encodeURIComponent(r.id),{moves:i})},n):o("span",{},n))}};var Ut=class{constructor(t){this.onRules=t,this.search=o("input",{type:"search",class:"search wide",placeholder:"Search games","aria-label":"Search games"}),this.search.addEventListener("input",R(80,()=>this.
render())),this.trouble=b(),this.cards=o("ul",{class:"cards"}),this.count=o("p",{class:"quiet","aria-live":"polite"}),this.cup=new Gt(s=>this.named(s));let e=o("input",{type:"file",multiple:!0,hidden:!0});
e.addEventListener("change",()=>this.take(e.files)),this.element=o("section",{class:"home","aria-label":"Games"},o("div",{class:"hero"},o("h1",{tabindex:"-1"},"Play any game, from its rules"),o("p",{},
"Choose a game, or bring your own rules: ggp draws the board, plays against you, solves the game and explains every move, from the rules alone."),o("div",{class:"line-of"},o("a",{class:"button strong",
href:"#/edit"},"Write or paste rules"),m("Open files or a match record \u2026",()=>e.click()),e)),this.trouble,o("div",{class:"line-of"},this.search,this.count),this.cards,this.cup.element),this.element.
addEventListener("dragover",s=>s.preventDefault()),this.element.addEventListener("drop",s=>{s.preventDefault(),this.take(s.dataTransfer.files)}),this.pasted=s=>{let i=s.clipboardData?.getData("text")??
"";i.includes("(")&&!s.target.closest?.("input")&&this.onRules({files:[{name:"rules.kif",text:i}],picture:null})},document.addEventListener("paste",this.pasted),this.load()}leave(){document.removeEventListener(
"paste",this.pasted)}async load(){try{this.games=await at(),this.render()}catch(t){this.trouble.say(t.message)}}render(){if(!this.games)return;let t=this.search.value.trim().toLowerCase().split(/\s+/).
filter(Boolean),e=this.games.filter(s=>{let i=`${s.id} ${s.name} ${s.about} ${s.roles.map(n=>n.name).join(" ")} ${Ts(s)}`.toLowerCase();return t.every(n=>i.includes(n))});this.count.textContent=e.length===
1?"1 game":`${e.length} games`,d(this.cards,e.map(qi))}async take(t){this.trouble.say("");try{let e=await Qt(t),[s]=e.files;e.files.length===1&&Ms(s.name,s.text)?this.cup.take(s.name,s.text):e.files.length===
1&&s.text.trimStart().startsWith("{")?await this.record(s.text):s&&this.onRules(e)}catch(e){this.trouble.say(e.message)}}named(t){return this.games?.find(({id:e,name:s})=>e===t||s===t)}async record(t){
let e=Lt(t),s=await Ct(e);if(!s)throw new Error(`There is no game called \u201C${e.game}\u201D here. Open its rules first, then load the record there.`);location.hash=L(s.path,{moves:e.moves})}};function qi(a){
let t=a.about.trim().split(`
`).slice(X(a)===a.name?0:1).join(`
`).trim();return o("li",{},o("a",{class:"card",href:L(encodeURIComponent(a.id),{})},o("img",{src:`/api/games/${encodeURIComponent(a.id)}/picture.svg`,alt:"",loading:"lazy",decoding:"async"}),o("strong",
{},X(a)),D(a)&&o("span",{class:"quiet subtitle"},D(a)),o("span",{class:"badge"},Ts(a)),o("span",{class:"about"},Ni(t))))}function Ts({roles:a}){let t=a.filter(e=>!e.random).length;return`${t===1?"puzz\
le":`${t} players`}${a.length>t?", chance":""}`}function Ni(a){let t=a.match(/^Rules:\s*([\s\S]*?)(?=^\S+:|$(?![\s\S]))/m);return(t?t[1]:a).replaceAll(/\s+/g," ").trim()}var xe=document.getElementById("view"),Ht=null,ke=0,j=null;function zt(a,t){let e=Ht===null;Ht?.leave?.(),Ht=a,d(xe,a.element),document.title=t?`${t} \xB7 ggp`:"ggp",e||(scrollTo(0,0),a.element.querySelector(
"h1")?.focus({preventScroll:!0})),a.shown?.()}function As(a,t){zt(new pt(a,Pi,t),"Your own rules")}function Pi(a){j={game:a};let t=L(a.path,{});location.hash===t?$e():location.hash=t}async function Ii(a){
if(j?.game&&(j.game.id===a.game||j.game.path===`rules=${a.rules}`))return j.game;if(a.rules===void 0)return a.early=S(`/api/games/${encodeURIComponent(a.game)}/position`,{moves:a.moves}).catch(()=>null),
lt().catch(()=>{}),O.named(a.game);try{return await O.loaded(await ct(a.rules))}catch(t){throw t.status!==void 0?t:new Error("The rules in this address are damaged. Was it copied completely?")}}async function Fi(a){
let t=await us(a.table);a.key&&!await me(a.table,a.key)&&(a.key=null,a.refused=!0);let e=await O.named(t.game).catch(async s=>{if(s.status!==404||!a.words.rules)throw s;return O.loaded(await ct(a.words.
rules))});return new ot(e,{...a,said:t})}async function $e(){let a=ke+=1,t=ht(location.hash),{page:e}=t;if(e==="home")zt(new Ut(s=>{j={rules:s},location.hash="#/edit"}));else if(e==="edit"){let s=j?.rules??
null;j=null,As(s)}else{Ht||d(xe,o("p",{class:"quiet waiting"},"Loading \u2026"));try{let s=e==="table"?await Fi(t):new ot(await Ii(t),t);if(a!==ke)return;j=null,s.onEdit=i=>{j={rules:i},location.hash=
"#/edit"},zt(s,s.game.title)}catch(s){if(a!==ke)return;if(s.status===422&&s.body?.findings&&t.rules){As(await ct(t.rules),s.body.findings);return}zt({element:o("section",{class:"home"},o("h1",{tabindex:"\
-1"},"This page cannot be shown"),o("p",{class:"trouble",role:"alert"},s.message),o("p",{},o("a",{href:"#/"},"Back to the games")))},"Not found")}}}document.getElementById("theme").append(He());document.
querySelector(".skip").addEventListener("click",a=>{a.preventDefault(),xe.focus()});addEventListener("hashchange",$e);addEventListener("dragover",a=>a.preventDefault());addEventListener("drop",a=>a.preventDefault());
$e();
