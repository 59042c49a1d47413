/// The style and the script of the set-up page. Both are inside the page; it works without the script.
extension SetupPage {
    static let style = """

        :root { font: 16px/1.45 system-ui, sans-serif; color-scheme: light dark; }
        body { margin: 0; }
        main { max-width: 40rem; margin: 0 auto; padding: 1rem; }
        h1 { font-size: 1.5rem; }
        h2 { font-size: 1.15rem; margin: 0 0 .5rem; }
        section { border-top: 1px solid #8886; padding: 1rem 0; }
        summary { cursor: pointer; padding: .6rem 0; font-weight: 600; }
        ol { padding-left: 1.3rem; }
        li { margin: .4rem 0; }
        code { overflow-wrap: anywhere; }
        .button, button { display: inline-block; min-height: 44px; padding: .6rem 1rem; border: 1px solid #06c; border-radius: .5rem;
          background: #06c; color: #fff; font: inherit; font-weight: 600; text-decoration: none; box-sizing: border-box; }
        button { width: 100%; }
        .marks { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .6rem; }
        .marks form { margin: 0; }
        .good, .notice { border-left: 4px solid #197a3e; padding-left: .7rem; }
        .missing { border-left: 4px solid #b45309; padding-left: .7rem; }
        .note { opacity: .85; }
        img { background: #fff; max-width: 100%; height: auto; }

        """

    static let script = """

        (function () {
          var browser = document.getElementById('browser'), apps = document.getElementById('apps');
          var words = { 'not yet': 'not yet', seen: 'seen: an app accepted the certificate',
            refused: 'refused: an app does not accept the certificate',
            mixed: 'some accepted the certificate, some refused it (they pin, or ignore installed certificates)' };
          function look() {
            fetch('/trust').then(function (r) { return r.json(); })
              .then(function (t) { apps.textContent = words[t.apps] || t.apps; }).catch(function () {});
          }
          fetch('https://trust.handoff.test/', { mode: 'cors', cache: 'no-store', credentials: 'omit' })
            .then(function (r) { if (!r.ok) throw 0; browser.textContent = 'trusts the certificate'; })
            .catch(function () { browser.textContent = 'does not trust the certificate yet, or does not use the proxy'; })
            .then(look);
          setInterval(look, 5000);
          var marked = document.getElementById('marked');
          Array.prototype.forEach.call(document.querySelectorAll('.marks form'), function (form) {
            form.addEventListener('submit', function (event) {
              event.preventDefault();
              var label = form.querySelector('button').textContent;
              marked.textContent = '…';
              fetch(form.action, { method: 'POST', headers: { Accept: 'application/json' },
                body: new URLSearchParams(new FormData(form)) })
                .then(function (r) { return r.json(); })
                .then(function (a) { marked.textContent = a.error ? 'Not marked: ' + a.error
                  : label + ': marked at ' + a.at.slice(11, 23) + ', number ' + a.sequence
                    + (a.kind === 'withdraw' ? '.' : '. Now touch it in the app.'); })
                .catch(function () { marked.textContent = 'Not marked: the recorder does not answer.'; });
            });
          });
        })();

        """
}
