// What validators of others say of report.html and ctrf.json: html-validate, and ajv with the schema that the package ctrf has.
//
//   report_files.mjs FILE...                      *.html and *.json
//
// Prints "ok: WHAT" or "FAILED: WHAT: why" for each check.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { HtmlValidate } from 'html-validate';

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

// All that it knows of HTML and of accessibility, but for matters of taste: end tags that HTML lets one leave out, `role`
// and `tabindex` of what scrolls.
const validator = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:a11y', 'html-validate:document'],
  rules: { 'no-implicit-close': 'off', 'require-sri': 'off' },
});

async function faults(html) {
  const report = await validator.validateString(html);
  return report.results.flatMap((one) => one.messages).map((one) => `${one.line}:${one.column} ${one.ruleId}: ${one.message}`);
}

const schemaPath = createRequire(import.meta.url).resolve('ctrf').replace(/[^/]*$/, 'ctrf-schema-0.0.json');
const ajv = new Ajv({ allErrors: true, strict: false });
addFormats(ajv);
const isReport = ajv.compile(JSON.parse(readFileSync(schemaPath, 'utf8')));

const html = process.argv.slice(2).filter((one) => one.endsWith('.html'));
const ctrf = process.argv.slice(2).filter((one) => one.endsWith('.json'));

for (const path of html)
  await check(`${basename(path)} is valid HTML`, async () =>
    assert.deepEqual((await faults(readFileSync(path, 'utf8'))).slice(0, 5), []));

await check('html-validate finds what is spoiled', async () => {
  const text = readFileSync(html[0], 'utf8');
  for (const [from, to] of [['<main id="main">', '<main id="main" id="main">'], ['</main>', ''], ['<h1', '<h1 id="main"'],
    ['<html lang="en">', '<html>'], ['<caption>', '<caption><table></table>']])
    assert.notEqual((await faults(text.replace(from, to))).length, 0, `${to} is taken`);
});

for (const path of ctrf)
  await check(`${basename(path)} is valid CTRF`, () =>
    assert.ok(isReport(JSON.parse(readFileSync(path, 'utf8'))), JSON.stringify(isReport.errors?.slice(0, 3))));

await check('ajv finds what is spoiled', () => {
  const spoil = [(one) => delete one.results.summary.other, (one) => (one.results.tests[0].status = 'not_established'),
    (one) => (one.results.tests[0].verdict = 'pass'), (one) => (one.reportFormat = 'ctrf'),
    (one) => (one.results.summary.start = '2026-01-02T03:04:05Z'), (one) => (one.results.tests[0].duration = 1.5)];
  for (const change of spoil) {
    const document = JSON.parse(readFileSync(ctrf[0], 'utf8'));
    change(document);
    assert.ok(!isReport(document), `${change} is taken`);
  }
});
process.exit(failed ? 1 : 0);
