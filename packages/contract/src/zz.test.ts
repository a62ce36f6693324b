import {compileInputSchema} from './index.js';
const props=(n)=>Object.fromEntries(Array.from({length:n},(_,i)=>['p'+i,{type:'string',pattern:'^([a-z]+-)*[a-z]+$',description:'some text here '.repeat(2)}]));
for(const n of [1,10,100,1000,3000]){const t=performance.now();const c=compileInputSchema({type:'object',properties:props(n)});console.log(n,c.ok,c.message,(performance.now()-t).toFixed(1))}
for(let i=0;i<3;i++){const t=performance.now();compileInputSchema({type:'object',properties:{a:{type:'string'}}});console.log('small',(performance.now()-t).toFixed(1))}
let d={};for(let i=0;i<120;i++)d={properties:{a:d},anyOf:[{required:['a']},{}]};let t=performance.now();console.log(compileInputSchema(d).ok,(performance.now()-t).toFixed(1));
t=performance.now();const e=compileInputSchema({anyOf:Array.from({length:30000},(_,i)=>({properties:{['k'+i]:true}}))});console.log(e.ok,(performance.now()-t).toFixed(1));
import {test} from 'vitest';test('x',()=>{});
