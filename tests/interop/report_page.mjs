// report.html in Debian's Chromium: it fits any width, asks for nothing, is whole without scripts, is found without a defect by
// axe-core in both schemes, works by keyboard, and prints.
//
//   report_page.mjs CHROMIUM SHOTS PAGE...        SHOTS: a folder for the pictures
//
// Prints "ok: WHAT" or "FAILED: WHAT: why" for each check.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import puppeteer from 'puppeteer-core';

const WIDTHS = [320, 768, 1280];
const SCHEMES = ['light', 'dark'];
const PATIENCE = 60000; // ms
const AXE_OPEN = 12;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const [chromium, shots, ...pages] = process.argv.slice(2);
let failed = 0;

async function check(what, body) {
  try {
    await body();
    console.log(`ok: ${what}`);
  } catch (error) {
    failed++;
    console.log(`FAILED: ${what}: ${String(error.message).replace(/\s+/g, ' ').slice(0, 600)}`);
  }
}

// Counts what it is asked for; `html` may be changed by a test.
const server = createServer((request, response) => {
  server.asked.push(request.url);
  response.writeHead(request.url === '/report.html' ? 200 : 404, { 'content-type': 'text/html' });
  response.end(request.url === '/report.html' ? server.html : '');
});
server.asked = [];
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/report.html`;

const browser = await puppeteer.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu'],
  protocolTimeout: 5 * PATIENCE });

async function open({ html, width = 1280, scheme = 'light', script = true, until = 'load' }) {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.said = [];
  page.on('console', (message) => page.said.push(message.text()));
  page.on('pageerror', (error) => page.said.push(String(error)));
  await page.setJavaScriptEnabled(script);
  await page.setViewport({ width, height: 1000 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  server.html = html;
  server.asked.length = 0;
  await page.goto(url, { waitUntil: until });
  return page;
}

// Of a page of many arms only some, where each node costs time.
const openAll = (page, most = Infinity) =>
  page.evaluate((count) => [...document.querySelectorAll('details')].slice(0, count).forEach((one) => (one.open = true)), most);

// What stands out of the window, other than within a container that scrolls by itself.
const overflow = (page) =>
  page.evaluate(() => ({
    page: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    loose: [...document.querySelectorAll('body *')]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('.t, pre, .skip'))
      .map((one) => one.outerHTML.slice(0, 80)),
  }));

async function fits(html, name, width, scheme) {
  const page = await open({ html, width, scheme });
  for (const all of [false, true]) {
    if (all) await openAll(page);
    assert.deepEqual(await overflow(page), { page: 0, loose: [] });
    if (all) continue;
    const picture = join(shots, `${name}-${width}-${scheme}.png`);
    await page.screenshot({ path: picture });
    assert.ok(statSync(picture).size > 10000, 'the picture is empty');
  }
  await page.close();
}

async function accessible(html, scheme) {
  const page = await open({ html, scheme, width: 768 });
  await openAll(page, AXE_OPEN);
  await page.evaluate(axe);
  // What is not of colours is the same in both schemes.
  const only = scheme === 'light' ? {} : { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };
  const result = await page.evaluate((options) => axe.run(document, { resultTypes: ['violations'], ...options }), only);
  const rules = result.violations.map((one) => `${one.id} (${one.nodes.length}): ${one.nodes[0].html.slice(0, 100)}`);
  assert.deepEqual(rules, []);
  const least = scheme === 'light' ? 20 : 1;
  assert.ok(result.passes.length >= least, `only ${result.passes.length} rules had anything to look at`);
  assert.ok(result.passes.some((one) => one.id === 'color-contrast'), 'no contrast was measured');
  await page.close();
}

// That axe-core can say no, on the same page with one thing spoiled.
async function detects(html) {
  const page = await open({ html: html.replace('--fg:#1d1c1a', '--fg:#c9c7c2').replace('<html lang="en">', '<html>') });
  await page.evaluate(axe);
  const result = await page.evaluate(() => axe.run(document));
  const ids = result.violations.map((one) => one.id);
  assert.ok(ids.includes('color-contrast') && ids.includes('html-has-lang'), `found ${ids}`);
  await page.close();
}

async function asksNothing(html) {
  const page = await open({ html, until: 'networkidle0' });
  await openAll(page);
  await page.reload({ waitUntil: 'networkidle0' });
  assert.deepEqual(server.asked.filter((one) => one !== '/favicon.ico'), ['/report.html', '/report.html']);
  assert.deepEqual(page.said.filter((one) => !one.includes('favicon')), []);
  await page.close();
}

// The policy of the page holds: what would be fetched or run is not, whatever got into it.
async function policyHolds(html) {
  const evil = '<img src="/leak.png"><script>document.title = "run"</script><script src="/leak.js"></script>' +
    '<iframe src="/leak.html"></iframe><style>@import url("/leak.css");h1{background:url("/leak2.png")}</style>' +
    '<object data="/leak.pdf"></object><p onclick="1" id="evil">evil</p>';
  const page = await open({ html: html.replace('<main id="main">', `<main id="main">${evil}`), until: 'networkidle0' });
  assert.equal(await page.evaluate(() => document.querySelectorAll('#evil').length), 1);
  assert.deepEqual(server.asked.filter((one) => one.includes('leak')), []);
  assert.notEqual(await page.title(), 'run');
  await page.close();
  const without = html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '').replace('<main id="main">', `<main id="main">${evil}`);
  const loose = await open({ html: without, until: 'networkidle0' });
  assert.ok(server.asked.includes('/leak.png'), 'without the policy nothing was asked for either');
  assert.equal(await loose.title(), 'run');
  await loose.close();
}

async function wholeWithoutScript(html) {
  const texts = [];
  for (const script of [true, false]) {
    const page = await open({ html, script });
    const session = await page.createCDPSession();
    const { root } = await session.send('DOM.getDocument', { depth: -1 });
    const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector: 'body' });
    texts.push((await session.send('DOM.getOuterHTML', { nodeId })).outerHTML);
    await page.close();
  }
  assert.equal(texts[0], texts[1]);
  assert.ok(!/<noscript/.test(html));
}

async function byKeyboard(html) {
  const page = await open({ html });
  const focused = (what) => page.evaluate(what);
  await page.keyboard.press('Tab');
  assert.equal(await focused(() => document.activeElement.className), 'skip');
  assert.ok(await focused(() => document.activeElement.getBoundingClientRect().left >= 0), 'the skip link stays out of sight');
  await page.keyboard.press('Enter');
  assert.equal(await focused(() => location.hash), '#main');
  const was = await page.$eval('details[id] > summary', (one) => (one.focus(), one.parentElement.open));
  await page.keyboard.press('Enter');
  assert.equal(await focused(() => document.activeElement.parentElement.open), !was, 'Enter neither opens nor closes');
  // Whatever scrolls is reached, and what is reached has a mark.
  const seen = await focused(() =>
    [...document.querySelectorAll('.t, pre')].every((one) => one.tabIndex === 0) &&
    getComputedStyle(document.activeElement).outlineStyle !== 'none');
  assert.ok(seen, 'something scrolls and cannot be reached, or has no mark');
  await page.close();
}

// A number of the matrix leads to its row, in an arm that was closed.
async function leads(html) {
  const page = await open({ html });
  const cell = await page.$eval('.m td a', (one) => one.getAttribute('href'));
  assert.match(cell, /^#c\d+$/);
  await page.evaluate((at) => document.querySelector(`.m td a[href="${at}"]`).click(), cell);
  assert.equal(await page.evaluate(() => location.hash), cell);
  assert.ok(await page.$eval(cell, (row) => row.checkVisibility() && row.getBoundingClientRect().height > 0), 'its row is hidden');
  await page.close();
}

// Nobody is told by colour alone.
async function saysInWords(html) {
  const page = await open({ html });
  const silent = await page.evaluate(() =>
    [['td.f', /fail/], ['td.n', /not established/], ['td.c', /caught/], ['b.f', /fail|refuted/i], ['b.n', /not established|changed/i]]
      .flatMap(([selector, word]) => [...document.querySelectorAll(selector)].filter((one) => !word.test(one.textContent)))
      .map((one) => one.outerHTML.slice(0, 80)));
  assert.deepEqual(silent, []);
  const tables = await page.evaluate(() => [...document.querySelectorAll('table')].map((table) =>
    table.caption?.textContent && [...table.querySelectorAll('th')].every((one) => one.scope)));
  assert.ok(tables.length > 10 && tables.every(Boolean), 'a table without a caption, or a header without a scope');
  const drawings = await page.evaluate(() => [...document.querySelectorAll('svg')].map((one) =>
    Boolean(one.querySelector('title')?.textContent && one.querySelector('desc')?.textContent && one.closest('table'))));
  assert.ok(drawings.length > 3 && drawings.every(Boolean), 'a drawing without a title, a text or a table');
  await page.close();
}

async function prints(html, name) {
  const page = await open({ html, scheme: 'dark' });
  const path = join(shots, `${name}.pdf`);
  await page.pdf({ path, format: 'A4', printBackground: true });
  const pdf = readFileSync(path, 'latin1');
  const sheets = pdf.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  assert.ok(sheets >= 2 && sheets < 60, `${sheets} sheets`);
  await page.emulateMediaType('print');
  await page.setViewport({ width: 700, height: 1000 });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('nav')).display), 'none');
  // On paper nothing scrolls: what is printed has to fit.
  const wide = await page.evaluate(() => [...document.querySelectorAll('table')]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.caption.textContent));
  assert.deepEqual(wide, []);
  await page.close();
}

async function schemes(html) {
  const seen = [];
  for (const scheme of SCHEMES) {
    const page = await open({ html, scheme });
    seen.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
    await page.close();
  }
  assert.equal(new Set(seen).size, SCHEMES.length);
}

for (const path of pages) {
  const html = readFileSync(path, 'utf8');
  const name = basename(path, '.html');
  for (const width of WIDTHS)
    for (const scheme of SCHEMES)
      await check(`${name} at ${width}, ${scheme}: nothing stands out of it`, () => fits(html, name, width, scheme));
  for (const scheme of SCHEMES) await check(`${name}, ${scheme}: axe-core`, () => accessible(html, scheme));
  await check(`${name}: asks for nothing`, () => asksNothing(html));
  await check(`${name}: whole without scripts`, () => wholeWithoutScript(html));
  await check(`${name}: by keyboard`, () => byKeyboard(html));
  await check(`${name}: links lead to closed rows`, () => leads(html));
  await check(`${name}: words beside colours, headers, drawings`, () => saysInWords(html));
  await check(`${name}: on paper`, () => prints(html, name));
}
const first = readFileSync(pages[0], 'utf8');
await check('light and dark differ', () => schemes(first));
await check('axe-core finds what is spoiled', () => detects(first));
await check('the policy holds, and is what holds', () => policyHolds(first));

await browser.close();
server.close();
process.exit(failed ? 1 : 0);
