/* The head of the page: no source may be loaded, no script run; one sheet of styles, for screens of any width, light
 * and dark, and for paper. */
#include "reports/html_parts.h"

static const char style[];

static const char *title_of(enum verdict verdict)
{
	static const char *const titles[] = {
		[VERDICT_PASS] = "pass",
		[VERDICT_FAIL] = "fail",
		[VERDICT_NOT_ESTABLISHED] = "not established",
	};

	return titles[verdict];
}

void html_head(struct html_page *page)
{
	struct buf *out = page->out;

	buf_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
		      "'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n"
		      "<meta name=\"referrer\" content=\"no-referrer\">\n");
	escape_printf(out, "<title>Confinement evidence: %s</title>\n", title_of(page->findings->verdicts->overall));
	buf_text(out, style);
	buf_text(out, "</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the verdict</a>\n");
}

/* Text has a contrast of at least 4.5 against what is behind it, in both schemes. */
static const char style[] =
	"<style>\n"
	":root{color-scheme:light dark;--bg:#fbfaf7;--fg:#1d1c1a;--soft:#5d5950;--line:#dcd8ce;--tint:#f2efe8;"
	"--link:#174f86;--pass:#1b6340;--fail:#a01f16;--failbg:#fbe6e2;--open:#744d00;--openbg:#faeed3;"
	"--caught:#2d4f80;--caughtbg:#e6edf6}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#17181a;--fg:#e7e4dd;--soft:#aca69a;--line:#3a3b3f;--tint:#"
	"202225;"
	"--link:#9fc6f5;--pass:#86d3a5;--fail:#ffa79c;--failbg:#4a211d;--open:#ecc06a;--openbg:#40310f;"
	"--caught:#a9c6f0;--caughtbg:#22324a}}\n"
	"*{box-sizing:border-box}\n"
	"html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-padding-top:1rem}\n"
	"body{margin:0;background:var(--bg);color:var(--fg);"
	"font:1.0625rem/1.55 Charter,\"Bitstream Charter\",\"Sitka Text\",Cambria,Georgia,serif}\n"
	"header,main,nav{max-width:74rem;margin:0 auto;padding:0 1.25rem}\n"
	"p,ul,ol,dl{max-width:42rem;margin:.6rem 0}\n"
	"ul,ol{padding-left:1.3rem}\n"
	"@media(min-width:60rem){ul.two{columns:2;column-gap:3rem;max-width:none}}\n"
	"li{padding:.2rem 0;break-inside:avoid}\n"
	"h1,h2,h3{line-height:1.2;font-weight:600;text-wrap:balance}\n"
	"h1{font-size:clamp(2.4rem,8vw,4rem);letter-spacing:-.02em;margin:.1rem 0 .3rem}\n"
	"h2{font-size:1.5rem;margin:3rem 0 .6rem;padding-top:.9rem;border-top:1px solid var(--line)}\n"
	"h3{font-size:1.12rem;margin:1.8rem 0 .4rem}\n"
	"a{color:var(--link);text-underline-offset:.15em}\n"
	"a:focus-visible,summary:focus-visible,.t:focus-visible{outline:3px solid var(--link);outline-offset:2px}\n"
	".skip{position:absolute;left:-999rem;background:var(--bg);padding:.6rem 1rem}\n"
	".skip:focus{left:0;top:0;z-index:2}\n"
	".kind{margin:3rem 0 0;color:var(--soft);font-variant-caps:all-small-caps;letter-spacing:.06em;"
	"font-size:1.15rem}\n"
	".lead{font-size:1.3rem;line-height:1.4;margin:0 0 1rem}\n"
	".p{color:var(--pass)}.f{color:var(--fail)}.n{color:var(--open)}\n"
	".soft,caption,.kind,figcaption{color:var(--soft)}\n"
	".figures{display:flex;flex-wrap:wrap;gap:1rem 2.5rem;list-style:none;padding:0;max-width:none;margin:1.6rem "
	"0}\n"
	".figures b{display:block;font-size:1.9rem;line-height:1.15;font-weight:600;"
	"font-variant-numeric:lining-nums tabular-nums}\n"
	".figures li{padding:0;font-size:.95rem;color:var(--soft)}\n"
	".figures b{color:var(--fg)}\n"
	"nav ul{display:flex;flex-wrap:wrap;gap:0 1.2rem;list-style:none;padding:0;max-width:none}\n"
	"nav a{display:inline-block;padding:.25rem 0}\n"
	"table,summary,dl.facts,.figures b{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Liberation Sans\","
	"sans-serif;font-variant-numeric:lining-nums tabular-nums}\n"
	"code{font:.88em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,\"Liberation Mono\",monospace;"
	"overflow-wrap:anywhere}\n"
	"pre{overflow-x:auto;max-width:100%;padding:.7rem .9rem;background:var(--tint);border:1px solid var(--line);"
	"border-radius:.3rem}\n"
	"dl.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.2rem 1.2rem;font-size:.9rem}\n"
	"dl.facts dt{color:var(--soft)}\n"
	"dl.facts dd{margin:0;overflow-wrap:anywhere}\n"
	".t{overflow-x:auto;max-width:100%;margin:.8rem 0}\n"
	"table{border-collapse:collapse;font-size:.85rem;line-height:1.4}\n"
	"caption{text-align:left;padding:.2rem 0 .4rem;position:sticky;left:0;width:max-content;max-width:80vw}\n"
	"th,td{text-align:left;vertical-align:top;padding:.3rem .9rem .3rem 0;border-bottom:1px solid var(--line)}\n"
	"thead th{vertical-align:bottom;font-weight:600;color:var(--soft);border-bottom-color:var(--soft)}\n"
	"tbody th{font-weight:400}\n"
	"tr:target>*{background:var(--caughtbg)}\n"
	"td.r,th.r{text-align:right}\n"
	".e tbody th{white-space:nowrap}.e td{overflow-wrap:anywhere}.e td,.x td{min-width:4rem}\n"
	".x a{display:inline-block}\n"
	/* the matrix */
	".m{table-layout:fixed}\n"
	".m thead th{width:6.4rem;overflow-wrap:break-word;hyphens:manual;font-size:.78rem;line-height:1.25}\n"
	".m thead th:first-child{width:9.5rem}.m thead th+th{padding-left:.4rem;padding-right:.3rem}\n"
	".m th:first-child,.w th:first-child{position:sticky;left:0;background:var(--bg);z-index:1}\n"
	".m th.o{position:static;padding-top:.9rem;color:var(--soft)}\n"
	".m .o span{position:sticky;left:0;display:inline-block;max-width:78vw}\n"
	".m .o b{color:var(--fg);font-weight:600}\n"
	".m td{padding:0}\n"
	".m td a{display:block;padding:.3rem .4rem;min-height:1.75rem;color:inherit;text-decoration:none}\n"
	".m td a:hover{text-decoration:underline}\n"
	".m td.c{background:var(--caughtbg);color:var(--caught)}\n"
	".m td.f{background:var(--failbg)}.m td.n{background:var(--openbg)}\n"
	".m small{font-size:.78rem}\n"
	/* arms */
	"details{border-bottom:1px solid var(--line)}\n"
	"summary{cursor:pointer;padding:.45rem 0;font-size:.95rem;overflow-wrap:anywhere}\n"
	"summary .soft{margin-left:.5rem;font-size:.85rem}\n"
	"details[open]>summary{font-weight:600}\n"
	"details:target>summary{background:var(--caughtbg)}\n"
	".w td:nth-child(n+6):nth-child(-n+10),.w thead th:nth-child(n+6):nth-child(-n+10),"
	".w td:nth-child(2),.w thead th:nth-child(2){text-align:right}\n"
	".w td:nth-child(2){padding-right:.9rem}\n"
	/* the timeline: rows as high as the drawing beside them takes them to be */
	".l th,.l td{padding:0 .9rem 0 0;border:0;height:1.5rem;line-height:1.5rem;white-space:nowrap}\n"
	".l td:first-child,.l th:first-child{text-align:right}\n"
	".l .soft{margin-left:.4rem}\n"
	".l .g{width:100%;min-width:7rem;padding:0 .5rem}\n"
	".l svg{display:block;width:100%;overflow:visible}\n"
	".l path{fill:none;vector-effect:non-scaling-stroke;stroke-linecap:round;stroke-linejoin:round;"
	"stroke:var(--soft);stroke-width:1}\n"
	".l .s{stroke:var(--fg);stroke-width:6}.l .u{stroke:var(--link);stroke-width:4}\n"
	"table.l{width:100%}\n"
	"@media(max-width:40rem){body{font-size:1rem}.lead{font-size:1.15rem}dl.facts{grid-template-columns:1fr}"
	"dl.facts dd{margin-bottom:.4rem}.m thead th{width:5rem}.m thead th:first-child{width:7.5rem}}\n"
	"@page{margin:14mm 12mm}\n"
	"@media print{:root{--bg:#fff;--fg:#000;--soft:#444;--line:#bbb;--tint:#f4f4f4;--link:#000;--pass:#000;"
	"--fail:#000;--failbg:#fff;--open:#000;--openbg:#fff;--caught:#000;--caughtbg:#fff}"
	"html{font-size:11.5px}header,main{padding:0}nav,.skip{display:none}a{text-decoration:none}"
	".t{overflow:visible}tr,li,svg,dl{break-inside:avoid}h2,h3,summary,caption{break-after:avoid}"
	".m th,.m thead th{width:auto;font-size:.78rem}.m th,.w th,.w td{padding-right:.4rem}.w{font-size:.72rem}"
	".m td.c,.m td.f,.m td.n{border:1px solid #000}}\n"
	"</style>\n";
